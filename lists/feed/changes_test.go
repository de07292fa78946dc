package feed_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	packer "github.com/addrspec/addrspec/lists/internal/blob"
)

// opened returns lists with these entries.
func opened(t testing.TB, date string, domains map[string]packer.Kind) *lists.Lists {
	t.Helper()
	packed, err := packer.Pack(packer.Content{Date: date, Domains: domains, Sources: []lists.Source{
		{Name: "addrspec/public.txt"}, {Name: "github:castle/disposable-email-domains", Version: "1"}, {Name: "npm:" + strings.Repeat("a", 200)}}})
	require.NoError(t, err)
	l, err := lists.Open(packed)
	require.NoError(t, err)
	return l
}

func TestCompare(t *testing.T) {
	before := opened(t, "2026.11.23", map[string]packer.Kind{
		"gone.example":   {Class: lists.Disposable, Subdomains: true, Carriers: 1},
		"turned.example": {Class: lists.Disposable, Carriers: 2},
		"wider.example":  {Class: lists.Relay, Carriers: 1},
		"same.example":   {Class: lists.Public, Carriers: 1},
	})
	after := opened(t, "2026.11.24", map[string]packer.Kind{
		"00jac.com":      {Class: lists.Disposable, Subdomains: true, Carriers: 3},
		"turned.example": {Class: lists.Public, Carriers: 1},
		"wider.example":  {Class: lists.Relay, Subdomains: true, Carriers: 1},
		"same.example":   {Class: lists.Public, Carriers: 3}, // one more source
	})
	c := feed.Compare(before, after)
	since, own, castle := before.Version(), []string{"addrspec/public.txt"}, []string{"github:castle/disposable-email-domains"}
	require.Equal(t, &feed.Changes{Version: after.Version(), Since: &since, Added: 3, Removed: 3, Rows: []feed.Change{
		{"00jac.com", feed.WasAdded, "disposable", true, append(own, castle...), "2026-11-24", "2026-06-14"},
		{"gone.example", feed.WasRemoved, "disposable", true, own, "2026-11-24", ""},
		{"turned.example", feed.WasRemoved, "disposable", false, castle, "2026-11-24", ""},
		{"turned.example", feed.WasAdded, "public", false, own, "2026-11-24", ""},
		{"wider.example", feed.WasRemoved, "relay", false, own, "2026-11-24", ""},
		{"wider.example", feed.WasAdded, "relay", true, own, "2026-11-24", ""},
	}}, c)
	require.Equal(t, 6+2, strings.Count(string(c.Text()), "\n"), "a line each")
	require.Contains(t, string(c.Text()), `{"domain":"gone.example","change":"removed","class":"disposable","subdomains":true,"sources":["addrspec/public.txt"],"day":"2026-11-24"},`+"\n")
	var parsed feed.Changes
	require.NoError(t, json.Unmarshal(c.Text(), &parsed))
	require.Equal(t, *c, parsed)
	first := feed.Compare(nil, after)
	require.NoError(t, json.Unmarshal(first.Text(), &parsed))
	require.Equal(t, `{"version":"`+after.Version()+`","since":null,"added":0,"removed":0,"truncated":false,"changes":[`+"\n]}\n", string(first.Text()))
}

// The file is bounded, and its counts are whole.
func TestChangesAreBounded(t *testing.T) {
	domains := map[string]packer.Kind{}
	for i := range feed.MaxChanges + 1 {
		domains[fmt.Sprintf("burner-%d.example", i)] = packer.Kind{Class: lists.Disposable, Carriers: 1}
	}
	empty := opened(t, "2026.11.23", nil)
	c := feed.Compare(empty, opened(t, "2026.11.24", domains))
	require.Equal(t, []any{feed.MaxChanges + 1, feed.MaxChanges, true}, []any{c.Added, len(c.Rows), c.Truncated})
	delete(domains, "burner-0.example")
	require.False(t, feed.Compare(empty, opened(t, "2026.11.24", domains)).Truncated)

	domains = map[string]packer.Kind{}
	for i := range feed.MaxChanges {
		domains[fmt.Sprintf("%05d.%sexample", i, strings.Repeat(strings.Repeat("a", 58)+".", 4))] = packer.Kind{Class: lists.Disposable, Carriers: 7}
	}
	c = feed.Compare(empty, opened(t, "2026.11.24", domains))
	require.True(t, c.Truncated)
	require.Equal(t, feed.MaxChanges, c.Added)
	require.LessOrEqual(t, len(c.Text()), feed.MaxChangesSize)
	require.Greater(t, len(c.Text()), feed.MaxChangesSize-2<<10)
	t.Logf("%d rows of %d have %d bytes", len(c.Rows), c.Added, len(c.Text()))
}

func TestOpenChanges(t *testing.T) {
	secret, other := feedtest.Key(t), feedtest.Key(t)
	c := feed.Compare(opened(t, "2026.11.23", nil), opened(t, "2026.11.24", map[string]packer.Kind{"a.example": {Class: lists.Known}}))
	text, signature, err := secret.SignChanges(c)
	require.NoError(t, err)
	got, err := secret.Public().OpenChanges(text, signature)
	require.NoError(t, err)
	require.Equal(t, c, got)
	for i := range text {
		changed := append([]byte(nil), text...)
		changed[i] ^= 1
		_, err := secret.Public().OpenChanges(changed, signature)
		require.ErrorContains(t, err, "not those that were signed", "byte %d", i)
	}
	_, err = other.Public().OpenChanges(text, signature)
	require.ErrorContains(t, err, "not those that were signed")
	_, err = secret.Public().OpenChanges(text, nil)
	require.Error(t, err)
	_, err = secret.Public().OpenChanges(make([]byte, feed.MaxChangesSize+1), signature)
	require.ErrorContains(t, err, "larger than 4 MiB")
	file, err := secret.SignFile(text, "another file")
	require.NoError(t, err)
	_, err = secret.Public().OpenChanges(text, file)
	require.ErrorContains(t, err, "not one of changes")
	_, err = secret.Public().Parse(signature)
	require.ErrorContains(t, err, "trusted comment", "it signs no lists")
}

// FuzzOpenChanges opens texts and signatures that nobody has signed, and texts that the key
// signed as another file.
func FuzzOpenChanges(f *testing.F) {
	secret := feedtest.Key(f)
	text, signature, err := secret.SignChanges(feed.Compare(nil, lists.Default()))
	require.NoError(f, err)
	f.Add(text[1:], signature)
	f.Add([]byte("{}"), []byte("untrusted comment: x"))
	f.Fuzz(func(t *testing.T, changed, signed []byte) {
		if _, err := secret.Public().OpenChanges(changed, signed); err == nil {
			require.Equal(t, text, changed)
		}
		file, err := secret.SignFile(changed, "a file")
		require.NoError(t, err)
		_, err = secret.Public().OpenChanges(changed, file)
		require.Error(t, err)
	})
}
