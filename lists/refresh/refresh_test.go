package main

import (
	"bytes"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/stretchr/testify/require"
)

func TestReaders(t *testing.T) {
	for name, c := range map[string]struct {
		read func([]byte) ([]string, error)
		file string
		want []string
	}{
		"array":       {readArray, `["a.example", "b.example"]`, []string{"a.example", "b.example"}},
		"lines":       {readLines, "a.example\r\nb.example\n", []string{"a.example", "b.example"}},
		"fakefilter":  {readFakefilter, `{"t":1,"domains":{"a.example":{"provider":"p"}}}`, []string{"a.example"}},
		"mailchecker": {readMailchecker, `var blacklist = new Set(["a.example","b.example"]);`, []string{"a.example", "b.example"}},
	} {
		got, err := c.read([]byte(c.file))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	_, err := readMailchecker([]byte(`module.exports = {}`))
	require.ErrorContains(t, err, "has the package changed?")
}

func TestVote(t *testing.T) {
	votes := map[string]tables.Votes{"a.example": "D"}
	source{letter: 'M'}.vote(votes, []string{"A.example", "a.example", "no domain", "user@a.example", "localhost"})
	require.Equal(t, map[string]tables.Votes{"a.example": "DM"}, votes)
}

func TestReport(t *testing.T) {
	before := tables.Map{
		"kept.example":  {Class: lists.Disposable, Subdomains: true},
		"gone.example":  {Class: lists.Public},
		"real.example":  {Class: lists.Public},
		"other.example": {Class: lists.Relay},
	}
	after := tables.Map{
		"kept.example":     {Class: lists.Disposable, Subdomains: true},
		"sub.kept.example": {Class: lists.Disposable, Subdomains: true}, // not reported: its parent covered it
		"real.example":     {Class: lists.Disposable, Subdomains: true},
		"other.example":    {Class: lists.Relay},
		"brand-new.exam":   {Class: lists.Disposable, Subdomains: true},
	}
	var out bytes.Buffer
	report(&out, before, after, nil, false)
	require.Equal(t, `public -> disposable: 1
	real.example
public -> unlisted: 1
	gone.example
unlisted -> disposable: 1
	brand-new.exam
newly disposable, check each (add those that are wrong to allow.txt): 1
	real.example
4 entries before, 5 after
`, out.String())
}

func TestReportShortensLongGroups(t *testing.T) {
	after := tables.Map{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		after[string(c)+"-long-name.example"] = tables.Entry{Class: lists.Disposable}
	}
	var out bytes.Buffer
	report(&out, tables.Map{}, after, nil, false)
	require.Contains(t, out.String(), "\tt-long-name.example\n\t... and 6 more (-all shows them)\n")
}
