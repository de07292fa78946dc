package blob

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/format"
)

func TestPackedTablesAreFound(t *testing.T) {
	long := strings.Repeat("long-", 12) + "label"
	domains := map[string]Kind{
		"temppost.com":         {Class: lists.Disposable, Subdomains: true},
		"tempposter.com":       {Class: lists.Disposable},
		"x.org":                {Class: lists.Public}, // its bucket is "x."
		"ab":                   {Class: lists.Known},  // all of it is its bucket
		long + ".example":      {Class: lists.Relay},  // its text has a length byte
		long + ".other":        {Class: lists.Relay, Subdomains: true},
		"-odd.example":         {Class: lists.Known},
		"top":                  {Class: lists.Unproven, Subdomains: true},
		"unproven.com":         {Class: lists.Unproven, Subdomains: true},
		"x.temppost.com":       {Class: lists.Unproven}, // hides no class of its parent
		"temppost.com.example": {Class: lists.Public, Subdomains: true, Mailboxes: 1},
	}
	for i := range 500 { // many blocks in one bucket
		domains[fmt.Sprintf("bucket%d.com", i*i)] = Kind{Class: lists.Disposable}
	}
	l := open(t, Content{Date: "2026.11.20", Domains: domains, Roles: map[string]lists.Word{"info": lists.Word(lists.General), "hr": lists.Word(lists.HR), "инфо": lists.Word(lists.General)},
		Targets: []byte("gmail.com\n"), TopLevels: []byte("com\ntop\n"), Mailboxes: []lists.MailboxRule{{Name: "x", Least: 1, Most: 2}}})
	for name, kind := range domains {
		if name == "x.temppost.com" {
			kind = domains["temppost.com"]
		}
		require.Equal(t, kind.Class, l.Provider([]byte(name)), name)
		require.Equal(t, kind.Class, l.Match([]byte(name)).Class, name)
	}
	for _, name := range []string{"a.top", "a.b.top", "y.unproven.com"} {
		require.Equal(t, lists.Unproven, l.Provider([]byte(name)), name)
	}
	for _, name := range []string{"", "a", "temppos.com", "temppost.co", "tempposte.com", "temppost.comx", "bucket2.com", "a.tempposter.com"} {
		require.Zero(t, l.Provider([]byte(name)), name)
	}
	require.Equal(t, lists.Disposable, l.Provider([]byte("a.temppost.com")))
	for domain, want := range map[string]uint8{"temppost.com.example": 1, "a.temppost.com.example": 0, "temppost.com": 0, "a.example": 0} {
		_, rule := l.Lookup([]byte(domain))
		require.Equal(t, want, rule, domain)
	}
	require.Equal(t, lists.HR, l.Word([]byte("hr")).Class())
	require.Equal(t, lists.General, l.Word([]byte("инфо")).Class())
	require.Equal(t, "gmail.com\n", string(l.TypoTargets()))
	require.Equal(t, "com\ntop\n", string(l.TopLevels()))
	require.Regexp(t, `^2026\.11\.20-[0-9a-f]{8}$`, l.Version())
}

func open(t *testing.T, c Content) *lists.Lists {
	packed, err := Pack(c)
	require.NoError(t, err)
	l, err := lists.Open(packed)
	require.NoError(t, err)
	return l
}

// TestPackManyKinds has more kinds than one byte can number.
func TestPackManyKinds(t *testing.T) {
	domains, sources := map[string]Kind{}, make([]lists.Source, format.MaxSources)
	for i := range sources {
		sources[i].Name = fmt.Sprint("source ", i)
	}
	for i := range 1000 {
		domains[fmt.Sprintf("name%d.com", i)] = Kind{lists.Disposable, i%2 == 0, uint32(i) << 22, 0}
	}
	l := open(t, Content{Date: "2026.11.20", Domains: domains, Sources: sources})
	for name, kind := range domains {
		m := l.Match([]byte(name))
		require.Equal(t, kind.Subdomains, m.Subdomains, name)
		for i := range sources {
			require.Equal(t, kind.Carriers>>i&1 != 0, m.CarriedBy(i), name)
		}
	}
}

func TestPackEmptyTables(t *testing.T) {
	require.Zero(t, open(t, Content{Date: "2026.11.20"}).Provider([]byte("gmail.com")))
}

func TestPackErrors(t *testing.T) {
	for want, c := range map[string]Content{
		`date "today"`:            {Date: "today"},
		`"a" cannot be packed`:    {Date: "2026.11.20", Roles: map[string]lists.Word{"a": lists.Word(lists.Admin)}},
		`"Info" cannot be packed`: {Date: "2026.11.20", Roles: map[string]lists.Word{"Info": lists.Word(lists.General)}},
		`"inFo" cannot be packed`: {Date: "2026.11.20", Roles: map[string]lists.Word{"inFo": lists.Word(lists.General)}},
		`"büro" cannot be packed`: {Date: "2026.11.20", Roles: map[string]lists.Word{"büro": lists.Word(lists.General)}},
		`its value 0 means`:       {Date: "2026.11.20", Roles: map[string]lists.Word{"info": lists.Word(lists.NoRole)}},
		`33 sources do not fit`:   {Date: "2026.11.20", Sources: make([]lists.Source, 33)},
		`want a name`:             {Date: "2026.11.20", Sources: make([]lists.Source, 1)},
		`want a name, printable`:  {Date: "2026.11.20", Sources: []lists.Source{{Name: "a\tb"}}},
		`printable ASCII without`: {Date: "2026.11.20", Rules: []lists.Rule{{Name: "a\nb"}}},
		`quotes and backslashes`:  {Date: "2026.11.20", Rules: []lists.Rule{{Name: `a"b`}}},
		`at most 255 bytes`:       {Date: "2026.11.20", Rules: []lists.Rule{{Name: strings.Repeat("a", 256)}}},
		`256 rules do not fit`:    {Date: "2026.11.20", Rules: make([]lists.Rule, 256)},
	} {
		_, err := Pack(c)
		require.ErrorContains(t, err, want)
	}
}

// FuzzPack checks that every packed name is found, and no other.
func FuzzPack(f *testing.F) {
	f.Add("temppost.com tempposter.com temppost.net")  // common prefixes and suffixes
	f.Add("aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa") // each a prefix of the next
	f.Add("a-b.com a.b.com ab.com a-.com a..com")      // byte order where a suffix begins
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "mail") || strings.Contains(text, "inbox") {
			return // a name that says what it is has a class without an entry
		}
		domains := map[string]Kind{}
		for i, name := range strings.Fields(text) {
			domains[name] = Kind{Class: 1 << (i % 4)}
		}
		packed, err := Pack(Content{Date: "2026.11.20", Domains: domains})
		if err != nil {
			return
		}
		l, err := lists.Open(packed)
		require.NoError(t, err)
		for name, kind := range domains {
			require.Equal(t, kind.Class, l.Provider([]byte(name)), name)
			require.Equal(t, domains[name+"x"].Class, l.Provider([]byte(name+"x")), name)
		}
	})
}

// TestOpenRefusesUnknownClass: a blob for a later program may have classes of
// words that this one cannot name.
func TestOpenRefusesUnknownClass(t *testing.T) {
	for _, w := range []lists.Word{31, lists.Alone} {
		packed, err := Pack(Content{Date: "2026.11.20", Roles: map[string]lists.Word{"info": w}})
		require.NoError(t, err)
		_, err = lists.Open(packed)
		require.ErrorContains(t, err, "a class in its table of role words is unknown")
	}
}

// TestUnpack packs what it unpacked: the bytes must be the same, so no part of a blob is
// lost or changed.
func TestUnpack(t *testing.T) {
	packed, err := Pack(Unpack(open(t, Unpack(lists.Default()))))
	require.NoError(t, err)
	require.True(t, bytes.Equal(lists.Blob(), packed))
}

// A part that is added to the content must be unpacked too.
func TestUnpackEveryPart(t *testing.T) {
	content := reflect.ValueOf(Unpack(lists.Default()))
	for i := range content.NumField() {
		require.NotZero(t, content.Field(i).Len(), content.Type().Field(i).Name)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("a.example"), []byte("info"), uint32(1))
	f.Add([]byte("-.x"), []byte("\u0438\u043d\u0444\u043e"), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, name, word []byte, carriers uint32) {
		if len(word) < 2 || bytes.HasPrefix(word, []byte("--")) {
			return // no letter of another script, or what looks like the name of such a word
		}
		c := Content{Date: "2026.11.20", Sources: []lists.Source{{Name: "a"}, {Name: "b", Version: "1", Domains: "7"}},
			Roles:     map[string]lists.Word{string(word): lists.Word(lists.General)},
			Domains:   map[string]Kind{string(name): {Class: lists.Relay, Subdomains: carriers&4 != 0, Carriers: carriers & 3, Mailboxes: uint8(carriers >> 3 & 1)}},
			Mailboxes: []lists.MailboxRule{{Name: "a", Characters: ".-", First: ".", Least: 2, Most: 60}}}
		packed, err := Pack(c)
		if err != nil {
			return
		}
		l, err := lists.Open(packed)
		require.NoError(t, err)
		require.Equal(t, lists.General, l.Word(word).Class())
		again, err := Pack(Unpack(l))
		require.NoError(t, err)
		require.Equal(t, packed, again)
	})
}
