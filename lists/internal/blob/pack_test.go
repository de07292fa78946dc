package blob

import (
	"fmt"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

func TestPackedTablesAnswer(t *testing.T) {
	long := strings.Repeat("long-", 12) + "label"
	domains := map[string]byte{
		"tempmail.com":         byte(lists.Disposable) | lists.Below,
		"tempmailer.com":       byte(lists.Disposable),
		"x.org":                byte(lists.Public), // the shelf takes "x."
		"ab":                   byte(lists.Known),  // and here everything
		long + ".example":      byte(lists.Relay),  // own letters counted apart
		long + ".other":        byte(lists.Relay) | lists.Below,
		"-odd.example":         byte(lists.Known),
		"tempmail.com.example": byte(lists.Public),
	}
	for i := range 500 { // many blocks on one shelf
		domains[fmt.Sprintf("shelf%d.com", i*i)] = byte(lists.Disposable)
	}
	l := open(t, Content{Date: "2026.11.20", Domains: domains, Words: map[string]byte{"info": 5, "hr": 10},
		Targets: []byte("gmail.com\n"), Tops: []byte("com\n")})
	for name, value := range domains {
		require.Equal(t, lists.Class(value&^lists.Below), l.Provider([]byte(name)), name)
	}
	for _, name := range []string{"", "a", "tempmai.com", "tempmail.co", "tempmaile.com", "tempmail.comx", "shelf2.com", "a.tempmailer.com"} {
		require.Zero(t, l.Provider([]byte(name)), name)
	}
	require.Equal(t, lists.Disposable, l.Provider([]byte("a.tempmail.com")))
	require.Equal(t, uint8(10), l.Role([]byte("hr")))
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

func TestEmptyTablesOpen(t *testing.T) {
	require.Zero(t, open(t, Content{Date: "2026.11.20"}).Provider([]byte("gmail.com")))
}

func TestPackRefuses(t *testing.T) {
	for want, c := range map[string]Content{
		`date "today"`:            {Date: "today"},
		`"a" cannot be packed`:    {Date: "2026.11.20", Words: map[string]byte{"a": 1}},
		`"Info" cannot be packed`: {Date: "2026.11.20", Words: map[string]byte{"Info": 1}},
		`its value 0 means`:       {Date: "2026.11.20", Words: map[string]byte{"info": 0}},
	} {
		_, err := Pack(c)
		require.ErrorContains(t, err, want)
	}
}

// Whatever names are packed, each is found, and nothing else.
func FuzzPack(f *testing.F) {
	f.Add("tempmail.com tempmailer.com tempmail.net")  // shared letters and endings
	f.Add("aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa") // each the beginning of the next
	f.Add("a-b.com a.b.com ab.com a-.com a..com")      // where byte order and endings meet
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
