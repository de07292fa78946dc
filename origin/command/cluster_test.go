package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// The commands of the handbook move an account to a second cluster, with its points, and
// leave the others where they are.
func TestSecondClusterOfTheHandbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../deploy/sizing.md")
	require.NoError(t, err)
	commands := regexp.MustCompile("(?s)\n## A second cluster\n.*?\n```sh\n(.*?)```\n").FindSubmatch(page)
	require.NotNil(t, commands)

	directory := t.TempDir()
	a, b := "sqlite:"+filepath.Join(directory, "a.db"), pgtest.NeedDatabase(t)
	mover, stayer := fillLedger(t, a, "mover@example.com"), fillLedger(t, a, "stayer@example.com")
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(directory, "addrspec")))
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", string(commands[1]))
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), programVariable+"=1", "PATH="+directory+":"+os.Getenv("PATH"),
		"A="+a, "B="+b, "OWNER=mover@example.com", "STAYS=stayer@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoFileExists(t, filepath.Join(directory, "move.ndjson.gz"))

	requireUse(t, b, mover, 7)
	requireUse(t, a, stayer, 7)
	requireUse(t, a, mover, -1)
	requireUse(t, b, stayer, -1)
}

// fillLedger makes an account with seven points used, and returns its key.
func fillLedger(t *testing.T, url, owner string) (secret string) {
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	rate := ledger.Limit(ledger.Unlimited)
	account, err := l.CreateAccount(t.Context(), owner, ledger.Terms{Rate: &rate})
	require.NoError(t, err)
	secret, _, err = l.CreateKey(t.Context(), account.ID, "test", ledger.KeyTerms{})
	require.NoError(t, err)
	r, _, err := l.Begin(t.Context(), secret, "")
	require.NoError(t, err)
	defer r.End()
	_, err = r.Claim(7, nil)
	require.NoError(t, err)
	_, err = r.Charge(ledger.Charge{Points: 7})
	require.NoError(t, err)
	return secret
}

// requireUse requires that a key of the ledger has used so many points, or is unknown if
// points is -1.
func requireUse(t *testing.T, url, secret string, points int64) {
	t.Helper()
	l, err := ledger.Open(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	r, d, err := l.Begin(t.Context(), secret, "")
	require.NoError(t, err)
	if points < 0 {
		require.Equal(t, ledger.UnknownKey, d.Kind)
		return
	}
	require.Equal(t, ledger.Good, d.Kind)
	defer r.End()
	require.Equal(t, points, d.Usage.Current)
}
