package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/lists"
)

// fuzzSeeds are seeds for the fuzzers, each with what it covers.
var fuzzSeeds = []struct{ email, why string }{
	{"User+tag@Example.COM", "the fast path, upper case"},
	{"", "empty input"},
	{`"a\"b c"@x`, "quoted-pairs and white space"},
	{"\"a\r\n b\"@x", "a fold that the local part drops"},
	{"(c(d)) a (e) @ (f) b.c (g)", "comments at every position"},
	{"a@[IPv6:2001:db8::192.0.2.1]", "address literals"},
	{"e\u0301\u212A@BU\u0308CHER.example", "characters that NFC and lower case change"},
	{"\u0958\u0958\u023A@x", "characters that NFC and lower case lengthen"},
	{"a\u037Eb@x", "NFC turns the Greek question mark into a semicolon, which needs quotes"},
	{"a@xn--bcher-kva.xn--mgba3gch31f060k", "A-labels, one with a joiner"},
	{"a@\u0915\u094D\u200D.\u0628\u200C\u0628", "U-labels with joiners"},
	{"\u0DC1\u0DCA\u200D\u0DBB\u0DD3.\u0628\u200C\u0628@x", "joiners in a local part"},
	{"\u0915\u094D\u0323\u200D@x", "a joiner after a virama only before NFC orders the marks"},
	{"\"\U0001E900\u200C\U0001E901 \\\u0628\u200C\u0628\"@x", "joiners in quotes, beside capitals and a backslash"},
	{"a@\u05D0.\u0661\u05D1", "right-to-left labels"},
	{"a@\uFF45x\u3002\uFF2Fk", "full width letters and dots"},
	{"a\u200B@x\xFF", "hidden characters and malformed UTF-8"},
	{"a@b.xn--a", "an A-label after a usual one"},
	{"Name <a@b.c>, d@e", "a mailbox list"},
	{"a@xn--mgba3gch31f060k.com", "an A-label with a joiner in its context"},
	{"a@\u05D0\u05D1.1\u0661\u06F1", "right to left, digits of several kinds"},
	{"a@fa\u00DF.\u03C3\u03C2.l\u00B7l", "deviations, context"},
	{"a@\u30FB\u30AB.\u05F3\u05D0.\u0375\u03B1", "context rules kept and broken"},
	{"a@xn--a.xn---.xn--0.xn--99999999", "broken A-labels"},
	{"a@a\u0301.\u0301a.-\u00E9.ab--\u00E9", "marks and hyphens"},
}

func addSeeds(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s.email))
	}
}

// FuzzParse checks the invariants of parse: no panic, an offset in the input, a
// normalized form that is valid and its own normalized form.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	var a, b address
	f.Fuzz(func(t *testing.T, email []byte) {
		r := a.parse(email)
		if r.Reason != Accepted {
			require.GreaterOrEqual(t, r.Offset, 0)
			require.LessOrEqual(t, r.Offset, len(email))
			require.NotEmpty(t, r.AppendSentence(nil, email))
			return
		}
		require.Equal(t, Refusal{}, b.parse(a.normalized), "normalized %+q", a.normalized)
		require.Equal(t, string(a.normalized), string(b.normalized))
		require.Equal(t, string(a.plainLocal), string(b.plainLocal))
		require.Equal(t, string(a.domain), string(b.domain))
		require.Equal(t, string(a.host), string(b.host))
		if 0 < len(a.host) && len(a.host) <= addressMax-len("x@") { // the A-labels are of the same host
			require.Equal(t, Refusal{}, b.parse(append([]byte("x@"), a.host...)), "host %s of %+q", a.host, email)
			require.Equal(t, string(a.host), string(b.host))
		}
	})
}

// FuzzUsual compares the fast path with the parser.
func FuzzUsual(f *testing.F) {
	addSeeds(f)
	var fast, slow address
	f.Fuzz(func(t *testing.T, email []byte) {
		if !fast.parseUsual(email) {
			return
		}
		require.Equal(t, Refusal{}, slow.parseAny(email))
		require.Equal(t, string(slow.local), string(fast.local))
		require.Equal(t, string(slow.plainLocal), string(fast.plainLocal))
		require.Equal(t, string(slow.domain), string(fast.domain))
		require.Equal(t, string(slow.host), string(fast.host))
		require.Equal(t, string(slow.normalized), string(fast.normalized))
	})
}

// TestLongInput: an input over inputMax is refused whatever it contains; email
// and ascii still cover all of it.
func TestLongInput(t *testing.T) {
	checker := New(lists.Default())
	for _, c := range hostile {
		n := (inputMax + 1 - len(c.prefix) - len(c.suffix)) / len(c.repeated)
		text := c.prefix + strings.Repeat(c.repeated, n+1) + c.suffix
		facts := checker.Check([]byte(text))
		require.Equal(t, Facts{
			Email: []byte(text), ASCII: ascii.Is([]byte(text)),
			Refusal: Refusal{addressTooLong, addressMax, len(text) - addressMax},
		}, facts, c.name)
		json, _ := AppendJSON(nil, &facts, false)
		require.Equal(t, text, decode(t, json).Email, c.name)
	}
}

// TestInputMax: an input is refused for its length if and only if it is longer
// than inputMax, whether valid or not.
func TestInputMax(t *testing.T) {
	a := new(address)
	for _, v := range vectors(t) {
		for _, length := range []int{inputMax, inputMax + 1} {
			fill := length - len(v.Email) - len("()")
			if fill < 0 {
				continue
			}
			email := "(" + strings.Repeat("c", fill) + ")" + v.Email
			byLength := a.parse([]byte(email)) == Refusal{addressTooLong, addressMax, len(email) - addressMax}
			require.Equal(t, length > inputMax, byLength, "%d: %+q", length, v.Email)
		}
	}
}
