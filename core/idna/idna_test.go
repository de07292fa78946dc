package idna

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/internal/idnatest"
)

func TestAppendLabel(t *testing.T) {
	var c Converter
	c.Reset()
	for _, label := range []string{"Mail", "B\u00fccher", "XN--BCHER-KVA", "\uff45x", "STRA\u1e9eE"} {
		require.Equal(t, Violation{}, c.AppendLabel([]byte(label)), "%+q", label)
	}
	require.Equal(t, "mail.b\u00fccher.xn--bcher-kva.ex.stra\u00dfe", string(c.Domain))
	require.Equal(t, "mail.xn--bcher-kva.xn--bcher-kva.ex.xn--strae-oqa", string(c.Host))
	c.Reset()
	require.Empty(t, c.Domain)
	require.Empty(t, c.Host)
}

// TestViolations has a label for each rule; the offsets are in bytes of the label
// as given.
func TestViolations(t *testing.T) {
	for label, want := range map[string]Violation{
		"\u00e9\u2603":               {Rule: Character, Offset: 2},
		"\u00ad":                     {Rule: Character}, // only an ignored character
		"-a":                         {Rule: LeadingHyphen},
		"a-":                         {Rule: TrailingHyphen, Offset: 1},
		"\uff41-":                    {Rule: TrailingHyphen}, // mapped to ASCII
		"\u00e9-":                    {Rule: TrailingHyphen, Offset: 2},
		"ab--\u00e9":                 {Rule: InnerHyphens, Offset: 2},
		"\u0301a":                    {Rule: LeadingMark},
		"a\u00b7":                    {Rule: Context, Offset: 1},
		"\u05d0a":                    {Rule: Bidi},
		"xn--a":                      {Rule: Punycode},
		"xn--\u00e9":                 {Rule: Punycode},
		strings.Repeat("a", 65):      {Length, 63, 2},
		strings.Repeat("\u00e9", 60): {Length, 0, 3},
	} {
		var c Converter
		c.Reset()
		require.Equal(t, want, c.AppendLabel([]byte(label)), "%+q", label)
	}
}

// TestLongText checks that text over the fixed arrays is converted too.
func TestLongText(t *testing.T) {
	var c Converter
	long := strings.Repeat("\u00c9", 4*runesMax)
	require.Equal(t, strings.ToLower(long), string(c.AppendLowerNFC(nil, []byte(long))))
	c.Reset()
	require.Equal(t, Length, c.AppendLabel([]byte(long)).Rule)
}

// joining has one character of each kind that the rules for the joiners
// distinguish, with its Joining_Type in ArabicShaping.txt; N and Z are the
// joiners themselves, V and v viramas of types T and U.
var joining = map[rune]string{
	'\uA872':  "L", // PHAGS-PA SUPERFIXED LETTER RA
	'\u0627':  "R", // ARABIC LETTER ALEF
	'\u0628':  "D", // ARABIC LETTER BEH
	'\u064E':  "T", // ARABIC FATHA
	'\u0621':  "U", // ARABIC LETTER HAMZA
	'\u094D':  "V", // DEVANAGARI SIGN VIRAMA
	'\u1B44':  "v", // BALINESE ADEG ADEG
	nonJoiner: "N",
	joiner:    "Z",
}

// The rules of RFC 5892 appendix A.1 and A.2. A virama of type T is transparent,
// like any other character of that type.
var (
	afterVirama = regexp.MustCompile(`[Vv]$`)
	joinsAfter  = regexp.MustCompile(`[LD][TV]*$`)
	joinsBefore = regexp.MustCompile(`^[TV]*[RD]`)
)

// allowed reports whether the rules allow a joiner of kind between before and
// after, which are strings of kinds.
func allowed(kind, before, after string) bool {
	return afterVirama.MatchString(before) ||
		kind == "N" && joinsAfter.MatchString(before) && joinsBefore.MatchString(after)
}

// TestJoinerRules tries every joiner in every label of up to five characters of
// all kinds.
func TestJoinerRules(t *testing.T) {
	allowedOnes := 0
	var try func(label []rune, kinds string)
	try = func(label []rune, kinds string) {
		for i, kind := range kinds {
			if kind == 'N' || kind == 'Z' {
				want := allowed(kinds[i:i+1], kinds[:i], kinds[i+1:])
				require.Equal(t, want, contextAllows(label, i), "%+q at %d", string(label), i)
				if want {
					allowedOnes++
				}
			}
		}
		if len(label) < 5 {
			for r, kind := range joining {
				try(append(label[:len(label):len(label)], r), kinds+kind)
			}
		}
	}
	try(nil, "")
	require.Greater(t, allowedOnes, 10_000)
}

// TestJoinersAfterEveryCharacter: of the characters that a label may contain,
// only those of canonical combining class 9 allow both joiners after them, also
// at the end of a label.
func TestJoinersAfterEveryCharacter(t *testing.T) {
	c, viramas := new(Converter), 0
	idnatest.Scalars(func(r rune) {
		if propertiesOf(r).status() != pvalid || r < 0x80 {
			return
		}
		virama := idnatest.Expect().Viramas[r]
		if virama {
			viramas++
		}
		for _, label := range []string{"क%" + string(rune(joiner)) + "क", "क%" + string(rune(joiner)), "क%" + string(rune(nonJoiner))} {
			label = strings.ReplaceAll(label, "%", string(r))
			c.Reset()
			v := c.AppendLabel([]byte(label))
			if v.Rule != Bidi && virama != (v.Rule == None) {
				t.Errorf("%+q violates rule %d", label, v.Rule)
			}
		}
	})
	require.Greater(t, viramas, 50)
}
