package core

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// joining holds a character of each kind that the rules for the joiners keep
// apart, with the Joining_Type that ArabicShaping.txt gives it, or N and Z for
// the joiners themselves, V and v for viramas of types T and U.
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

// The rules as RFC 5892 appendix A.1 and A.2 write them; a virama of type T
// joins through like any other such character.
var (
	afterVirama = regexp.MustCompile(`[Vv]$`)
	joinsAfter  = regexp.MustCompile(`[LD][TV]*$`)
	joinsBefore = regexp.MustCompile(`^[TV]*[RD]`)
)

// allowed reports whether the rules allow the joiner between the two kinds.
func allowed(kind, before, after string) bool {
	return afterVirama.MatchString(before) ||
		kind == "N" && joinsAfter.MatchString(before) && joinsBefore.MatchString(after)
}

// TestJoinersKeepTheirRules tries every joiner in every label of up to five
// characters of all kinds.
func TestJoinersKeepTheirRules(t *testing.T) {
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

// TestJoinersAfterEveryCharacter: of the characters that a label may hold,
// those of canonical combining class 9 alone let both joiners follow, at the
// end of a label too.
func TestJoinersAfterEveryCharacter(t *testing.T) {
	a, viramas := new(address), 0
	scalars(func(r rune) {
		if propertiesOf(r).status() != pvalid || r < 0x80 {
			return
		}
		virama := norm.NFC.PropertiesString(string(r)).CCC() == 9
		if virama {
			viramas++
		}
		for _, label := range []string{"क%" + string(rune(joiner)) + "क", "क%" + string(rune(joiner)), "क%" + string(rune(nonJoiner))} {
			label = strings.ReplaceAll(label, "%", string(r))
			refusal := a.parse([]byte("x@" + label))
			if refusal.Reason != labelBidi {
				require.Equal(t, virama, refusal.Reason == Accepted, "%+q %s", label, refusal.Reason.Code())
			}
			agree(t, a, label)
		}
	})
	require.Greater(t, viramas, 50)
}

// FuzzLabelForms holds U-labels and A-labels to one verdict and one host name.
func FuzzLabelForms(f *testing.F) {
	for _, domain := range []string{"b\u00FCcher.example", "xn--mgba3gch31f060k.com", "\u0646\u0627\u0645\u0647\u200C\u0627\u06CC.com",
		"\u0915\u094D\u200D\u0937", "\u0628\u200Ca", "xn--a-0mc790o", "xn--1ug.xn--0ug", "\u0DC1\u0DCA\u200D\u0DBB\u0DD3.lk",
		"\u0628\u200C\u064E\u0628.x", "STRA\u1E9EE\u3002\uFF45x", "xn--l-0ea.xn--ll-0ea"} {
		f.Add(domain)
	}
	f.Fuzz(func(t *testing.T, domain string) { requireOneVerdict(t, domain) })
}

// requireOneVerdict asks that each form of domain is valid if the other is.
func requireOneVerdict(t *testing.T, domain string) {
	if strings.ContainsAny(domain, "[( \t\r\n@") {
		return // not a name alone
	}
	host, ok := hostOf(domain)
	if ok {
		again, ok := hostOf(host)
		require.True(t, ok, "%+q is valid, %s is not", domain, host)
		require.Equal(t, host, again)
	}
	unicode, err := idna.Punycode.ToUnicode(strings.ToLower(domain)) // decodes, and checks nothing
	if err != nil || unicode == domain {
		return
	}
	if other, valid := hostOf(unicode); valid && isASCII([]byte(domain)) {
		require.Equal(t, other == strings.ToLower(domain), ok, "%s is valid: %t; %+q is %s", domain, ok, unicode, other)
	} else if ok {
		require.True(t, valid || len(unicode) > domainMax, "%+q is valid, %+q is not", domain, unicode)
	}
}

// hostOf returns the A-label form of domain, if it is valid.
func hostOf(domain string) (string, bool) {
	a := new(address)
	if len(domain) > domainMax {
		return "", false
	}
	refusal := a.parse([]byte("x@" + domain))
	return string(a.host), refusal.Reason == Accepted || refusal.Reason == addressTooLong && len(a.host) > 0
}

// TestJoinersStayWhereTheyAre: every form of an address keeps them, the forms
// are stable, and the facts are those of the A-label form.
func TestJoinersStayWhereTheyAre(t *testing.T) {
	const name = "\u0DC1\u0DCA\u200D\u0DBB\u0DD3"
	var a, b address
	require.Equal(t, Refusal{}, a.parse([]byte("Jane+News@"+name+".LK")))
	require.Equal(t, name+".lk", string(a.domain))
	require.Equal(t, "jane+news@"+name+".lk", string(a.normalized))
	require.Equal(t, Refusal{}, b.parse([]byte("jane@xn--10cl1a0b660p.lk")))
	require.Equal(t, string(b.host), string(a.host))
	require.Equal(t, Refusal{}, b.parse(a.normalized))
	require.Equal(t, string(a.normalized), string(b.normalized))
	without := strings.ReplaceAll(name, "\u200D", "")
	require.Equal(t, Refusal{}, b.parse([]byte("jane@"+without+".lk")))
	require.NotEqual(t, string(b.host), string(a.host), "another name")
}
