package account

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// auditActions returns the actions that the origin's packages record in the audit log, from their source.
func auditActions(t *testing.T) map[string]string {
	actions := map[string]string{}
	literal := regexp.MustCompile(`"([a-z-]+\.[a-z-]+)"`)
	for _, dir := range []string{"../../ledger/book", "../../identity", "../../webhook"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
				if !strings.HasSuffix(path, "_test.go") {
					actions[found[1]] = path
				}
			}
		}
	}
	delete(actions, "usage.threshold") // a message of webhooks
	return actions
}

// Each action of the audit log has its sentence, and no other has.
func TestAuditSentencesAreComplete(t *testing.T) {
	actions := auditActions(t)
	require.Greater(t, len(actions), 25)
	for action, path := range actions {
		require.Contains(t, auditSentences, action, "recorded in %s", path)
	}
	for action := range auditSentences {
		require.Contains(t, actions, action, "nothing records it")
	}
	for line, want := range map[[2]string]string{
		{"key.create", "5 <b>shop</b> %d"}:                          "The key “<b>shop</b> %d” was created.",
		{"key.rename", "5 store (was shop)"}:                        "A key was renamed: store (was shop).",
		{"account.create", "plan pro, points 100000"}:               "The account was created: plan pro, points 100000.",
		{"session.sign-in", "Chrome on Linux"}:                      "A browser signed in: Chrome on Linux.",
		{"webhook.disable", "the receiver responded with HTTP 410"}: "The webhook was disabled: the receiver responded with HTTP 410.",
		{"account.suspend", ""}:                                     "The account was suspended.",
		{"moon.land", "1969"}:                                       "moon.land 1969",
	} {
		require.Equal(t, want, ViewOfAudit(book.AuditLine{Action: line[0], Subject: line[1]}).Sentence)
	}
}
