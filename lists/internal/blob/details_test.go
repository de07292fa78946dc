package blob_test

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// small has a few names in each part, so that a change of any byte matters.
var small = blob.Content{
	Date: "2026.11.20",
	Domains: map[string]blob.Kind{
		"gmail.com":    {Class: lists.Public, Carriers: 1, Mailboxes: 1},
		"tempmail.com": {Class: lists.Disposable, Subdomains: true, Carriers: 3},
	},
	Sources:   []lists.Source{{Name: "addrspec/public.txt"}, {Name: "npm:fakefilter", Version: "1"}},
	Roles:     map[string]lists.Word{"support": lists.Word(lists.Support), "eu": lists.Word(lists.Code)},
	Targets:   []byte("gmail.com\nproton.me\n"),
	TopLevels: []byte("com\nme\n"),
	Providers: map[string]int{"gmail.com": 1, "googlemail.com": 1, "fastmail.com": 2, "proton.me": 3},
	Rules: []lists.Rule{
		{Name: "gmail", Tags: true, Ignored: ".", Domain: "gmail.com"},
		{Name: "fastmail", Tags: true, Subdomains: true},
		{Name: "proton", Tags: true, Ignored: ".-_"},
	},
	Exchanges: map[string]int{"google.com": 1, "mail.ru": 2},
	Operators: []lists.Exchange{{Class: "suite", Provider: "Google"}, {Class: "temporary", Provider: "Example"}},
	Mailboxes: []lists.MailboxRule{{Name: "gmail", Characters: ".", First: ".", Least: 1, Most: 64},
		{Name: "mail.ru", Characters: "._-", Least: 4, Most: 31}},
}

// FuzzDetails changes bytes of a blob with a correct checksum. If it can be
// opened, details must be JSON, and a canonical address valid and canonical.
func FuzzDetails(f *testing.F) {
	packed, err := blob.Pack(small)
	require.NoError(f, err)
	f.Add(0, []byte(""), "jane@gmial.com")                          // nothing
	f.Add(format.DateAt, []byte("\"\"\"\""), "jane+x@gmail.com")    // the date
	f.Add(len(packed)-3100, []byte("\"\\"), "j.d+x@googlemail.com") // the rules
	f.Add(len(packed)-60, []byte("-.-\n"), "shop@jane.fastmail.com")
	f.Fuzz(func(t *testing.T, at int, patch []byte, email string) {
		b := append([]byte(nil), packed...)
		if at < 0 || at > len(b) {
			return
		}
		copy(b[at:], patch)
		binary.LittleEndian.PutUint32(b[format.ChecksumAt:], crc32.ChecksumIEEE(b[format.DateAt:]))
		l, err := lists.Open(b)
		if err != nil {
			return
		}
		c := core.New(l)
		for _, address := range []string{email, "j.d+x@googlemail.com", `""@gmail.com`, "_@gmail.com", "a@b.fastmail.com", "x@tempmail.com", "support-eu@gmial.com"} {
			if mailbox := canonicalOf(t, c, address); mailbox != "" {
				require.Equal(t, mailbox, canonicalOf(t, c, mailbox), "%q", address)
			}
		}
	})
}

// canonicalOf returns the canonical form of an address, which is empty if it is
// not valid.
func canonicalOf(t *testing.T, c *core.Checker, email string) string {
	f := c.Check([]byte(email))
	result, _ := core.AppendJSON(nil, &f, false)
	var d struct{ Details struct{ Canonical *string } }
	result = c.AppendDetails(result, &f)
	require.NoError(t, json.Unmarshal(result, &d), "%q", result)
	require.Equal(t, f.Valid, d.Details.Canonical != nil, "%q", result)
	if !f.Valid {
		return ""
	}
	return *d.Details.Canonical
}
