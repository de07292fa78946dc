package vectors

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// TestExampleOfDetails compares the example in wasm/ABI.md with core, except for
// what changes with the lists.
func TestExampleOfDetails(t *testing.T) {
	page, err := os.ReadFile("../ABI.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(page), "The details of `")
	require.True(t, found)
	email, text, _ := strings.Cut(text, "`")
	_, text, _ = strings.Cut(text, "```json\n")
	example, _, _ := strings.Cut(text, "```")

	var want, got struct {
		Details json.RawMessage `json:"details"`
	}
	want.Details = json.RawMessage(example)
	require.NoError(t, json.Unmarshal(NativeDetails()(email), &got))
	require.JSONEq(t, withoutLists(t, want.Details), withoutLists(t, got.Details))
	require.Equal(t, order(example), order(string(got.Details)))
}

// The canonical form that policies compare, made without a check, is that of the details: of the
// address as it is and normalized.
func TestCanonical(t *testing.T) {
	files, err := ReadDetails(".")
	require.NoError(t, err)
	emails := Generate(51, 20_000)
	for _, list := range files {
		for _, v := range list {
			emails = append(emails, v.Email)
		}
	}
	checker, details, valid := core.New(lists.Default()), NativeDetails(), 0
	for _, email := range emails {
		var want struct {
			Normalized string
			Details    struct{ Canonical string }
		}
		require.NoError(t, json.Unmarshal(details(email), &want))
		normalized, refusal := checker.Normalize([]byte(email))
		require.Equal(t, want.Normalized == "", refusal.Reason != core.Accepted, "%q", email)
		require.Equal(t, want.Normalized, string(normalized))
		if want.Normalized == "" {
			continue
		}
		valid++
		require.Equal(t, want.Details.Canonical, string(checker.AppendCanonical(nil)), "%q", email)
		checker.Normalize([]byte(want.Normalized))
		require.Equal(t, want.Details.Canonical, string(checker.AppendCanonical(nil)), "%q", email)
	}
	require.Greater(t, valid, 5_000)
}

// withoutLists returns details without the sources of the entry and the versions.
func withoutLists(t *testing.T, details json.RawMessage) string {
	var d map[string]any
	require.NoError(t, json.Unmarshal(details, &d))
	delete(d["provider_evidence"].(map[string]any), "sources")
	delete(d, "versions")
	text, err := json.Marshal(d)
	require.NoError(t, err)
	return string(text)
}

// order returns the names of the members in text, in order.
func order(text string) (names []string) {
	parts := strings.Split(text, `":`)
	for _, part := range parts[:len(parts)-1] {
		names = append(names, part[strings.LastIndexByte(part, '"')+1:])
	}
	return names
}
