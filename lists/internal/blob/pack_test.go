package blob

import (
	"fmt"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/format"
	"github.com/stretchr/testify/require"
)

func TestPackedTablesAnswer(t *testing.T) {
	long := strings.Repeat("long-", 12) + "label"
	domains := map[string]byte{
		"tempmail.com":         byte(lists.Disposable) | format.Subdomains,
		"tempmailer.com":       byte(lists.Disposable),
		"x.org":                byte(lists.Public), // its bucket is "x."
		"ab":                   byte(lists.Known),  // all of it is its bucket
		long + ".example":      byte(lists.Relay),  // its text has a length byte
		long + ".other":        byte(lists.Relay) | format.Subdomains,
		"-odd.example":         byte(lists.Known),
		"tempmail.com.example": byte(lists.Public),
	}
	for i := range 500 { // many blocks in one bucket
		domains[fmt.Sprintf("bucket%d.com", i*i)] = byte(lists.Disposable)
	}
	l := open(t, Content{Date: "2026.11.20", Domains: domains, Roles: map[string]lists.Role{"info": lists.General, "hr": lists.HR},
		Targets: []byte("gmail.com\n"), TopLevels: []byte("com\n")})
	for name, value := range domains {
		require.Equal(t, lists.Class(value&^format.Subdomains), l.Provider([]byte(name)), name)
	}
	for _, name := range []string{"", "a", "tempmai.com", "tempmail.co", "tempmaile.com", "tempmail.comx", "bucket2.com", "a.tempmailer.com"} {
		require.Zero(t, l.Provider([]byte(name)), name)
	}
	require.Equal(t, lists.Disposable, l.Provider([]byte("a.tempmail.com")))
	require.Equal(t, lists.HR, l.Role([]byte("hr")))
	require.Equal(t, "gmail.com\n", string(l.TypoTargets()))
	require.Equal(t, "com\n", string(l.TopLevels()))
	require.Regexp(t, `^2026\.11\.20-[0-9a-f]{8}$`, l.Version())
}

func open(t *testing.T, c Content) *lists.Lists {
	packed, err := Pack(c)
	require.NoError(t, err)
	l, err := lists.Open(packed)
	require.NoError(t, err)
	return l
}

func TestPackEmptyTables(t *testing.T) {
	require.Zero(t, open(t, Content{Date: "2026.11.20"}).Provider([]byte("gmail.com")))
}

func TestPackErrors(t *testing.T) {
	for want, c := range map[string]Content{
		`date "today"`:            {Date: "today"},
		`"a" cannot be packed`:    {Date: "2026.11.20", Roles: map[string]lists.Role{"a": lists.Admin}},
		`"Info" cannot be packed`: {Date: "2026.11.20", Roles: map[string]lists.Role{"Info": lists.General}},
		`"inFo" cannot be packed`: {Date: "2026.11.20", Roles: map[string]lists.Role{"inFo": lists.General}},
		`its value 0 means`:       {Date: "2026.11.20", Roles: map[string]lists.Role{"info": lists.NoRole}},
	} {
		_, err := Pack(c)
		require.ErrorContains(t, err, want)
	}
}

// FuzzPack checks that every packed name is found, and no other.
func FuzzPack(f *testing.F) {
	f.Add("tempmail.com tempmailer.com tempmail.net")  // common prefixes and suffixes
	f.Add("aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa") // each a prefix of the next
	f.Add("a-b.com a.b.com ab.com a-.com a..com")      // byte order where a suffix begins
	f.Fuzz(func(t *testing.T, text string) {
		domains := map[string]byte{}
		for i, name := range strings.Fields(text) {
			domains[name] = byte(i%4) + 1
		}
		packed, err := Pack(Content{Date: "2026.11.20", Domains: domains})
		if err != nil {
			return
		}
		l, err := lists.Open(packed)
		require.NoError(t, err)
		for name, value := range domains {
			require.Equal(t, lists.Class(value), l.Provider([]byte(name)), name)
			require.Equal(t, lists.Class(domains[name+"x"]), l.Provider([]byte(name+"x")), name)
		}
	})
}
