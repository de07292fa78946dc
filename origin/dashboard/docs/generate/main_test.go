package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
)

func TestSiteIsCurrent(t *testing.T) {
	want, err := render("..")
	require.NoError(t, err)
	got, err := os.ReadFile("../site.json")
	require.NoError(t, err)
	require.True(t, string(want) == string(got), "site.json is not what the Markdown gives: run go generate ./origin/dashboard/docs")
}

// Text belongs to the section above it, also after a table, and rows with names are
// entries of their own.
func TestEntries(t *testing.T) {
	page := &docs.Page{}
	entries, err := renderPage(page, []byte("# Title\n\nSummary.\n\nIntro.\n\n## Some `code`\n\n- one\n- two\n\n| a | b |\n|---|---|\n| `X-Y` or `Z` | b `c` |\n| no name | d |\n\n"+
		"After <b>it</b>.\n\n```\ncode\n```\n\n| a |\n|---|\n| `x_y` |\n| `x-y` |\n\n#### `A_B`\n"))
	require.NoError(t, err)
	require.Equal(t, []entry{
		{"", "Title", "Summary. Intro."},
		{"some-code", "Some code", "one two no name · d After it."},
		{"some-code.x-y", "X-Y or Z", "b c"},
		{"some-code.x_y", "x_y", ""},
		{"some-code.x-y.2", "x-y", ""},
		{"a-b", "A_B", ""},
	}, entries)
	require.Contains(t, page.Body, `<tr id="some-code.x-y.2">`)
}
