package typo

import (
	"bytes"
	"testing"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/stretchr/testify/require"
)

// aLabels returns domain in A-label form.
func aLabels(t testing.TB, domain string) []byte {
	var c idna.Converter
	c.Reset()
	for _, label := range bytes.Split([]byte(domain), dot) {
		require.Zero(t, c.AppendLabel(label).Rule, domain)
	}
	return c.Host
}

func TestExplain(t *testing.T) {
	x := newIndex()
	for _, c := range []struct {
		typed, target string
		edits         []Edit
	}{
		{"gmsil.com", "gmail.com", []Edit{{Substitution, 2, "s", "a"}}},
		{"gmaail.com", "gmail.com", []Edit{{Insertion, 3, "a", ""}}},
		{"gmal.com", "gmail.com", []Edit{{Deletion, 3, "", "i"}}},
		{"gmial.com", "gmail.com", []Edit{{Transposition, 2, "ia", "ai"}}},
		{"gmial.con", "gmail.com", []Edit{{Transposition, 2, "ia", "ai"}, {Ending, 6, "con", "com"}}},
		{"prtonmial.com", "protonmail.com", []Edit{{Deletion, 2, "", "o"}, {Transposition, 6, "ia", "ai"}}},
		{"gmail.com.com", "gmail.com", []Edit{{Ending, 6, "com.com", "com"}}},
		{"gmail.co", "gmail.com", []Edit{{Ending, 6, "co", "com"}}},
		{"hotmail", "hotmail.com", []Edit{{Ending, 7, "", ".com"}}},
		{"oulook", "outlook.com", []Edit{{Deletion, 2, "", "t"}, {Ending, 6, "", ".com"}}},
		{"gmailcom", "gmail.com", []Edit{{MissingDot, 5, "", "."}}},
		{"yahooc.om", "yahoo.com", []Edit{{MissingDot, 5, "", "."}, {MisplacedDot, 6, ".", ""}}},
		{"t.online.de", "t-online.de", []Edit{{Substitution, 1, ".", "-"}}},
		{"www.gmial.com", "gmail.com", []Edit{{Insertion, 0, "www.", ""}, {Transposition, 6, "ia", "ai"}}},
		{"1975yahoo.com", "yahoo.com", []Edit{{Insertion, 0, "1975", ""}}},
		{"gmailgmail.com", "gmail.com", []Edit{{Insertion, 0, "gmail", ""}}},
		{"yah00.com", "yahoo.com", []Edit{{Lookalike, 3, "0", "o"}, {Lookalike, 4, "0", "o"}}},
		{"grnail.com", "gmail.com", []Edit{{Lookalike, 1, "rn", "m"}}},
		{"gm\u0430il.com", "gmail.com", []Edit{{Lookalike, 2, "\u0430", "a"}}},
		{"gmai\u0142.com", "gmail.com", []Edit{{Lookalike, 4, "\u0142", "l"}}},
		{"\u014bmail.com", "gmail.com", []Edit{{Substitution, 0, "\u014b", "g"}}},
		{"gmail.com\u03c9", "gmail.com", []Edit{{Ending, 6, "com\u03c9", "com"}}},
	} {
		domain := aLabels(t, c.typed)
		require.Equal(t, c.target, string(x.Suggest(domain)), c.typed)
		require.Equal(t, c.edits, x.Explain(domain, []byte(c.target)), c.typed)
	}
}

// applied returns domain, with U-labels, after edits.
func applied(domain []byte, edits []Edit) string {
	text, at := decoded(domain), 0
	var result []rune
	for _, e := range edits {
		result = append(append(result, text[at:e.At]...), []rune(e.To)...)
		at = e.At + len([]rune(e.From))
	}
	return string(append(result, text[at:]...))
}

// The edits of a suggestion make the target of the domain, and each edit names
// what it replaces.
func FuzzExplain(f *testing.F) {
	for _, domain := range []string{"gmial.com", "yahooc.om", "1975yahoo.con", "www.gmail.com", "xn--gmil-63d.com", "t.online.de", "hotmail"} {
		f.Add([]byte(domain))
	}
	x := newIndex()
	f.Fuzz(func(t *testing.T, domain []byte) {
		target := x.Suggest(domain)
		if target == nil {
			return
		}
		edits := x.Explain(domain, target)
		require.NotEmpty(t, edits)
		require.Equal(t, string(target), applied(domain, edits))
		text := decoded(domain)
		for _, e := range edits {
			require.Equal(t, e.From, string(text[e.At:e.At+len([]rune(e.From))]))
		}
	})
}
