package core

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"golang.org/x/text/secure/bidirule"
	"golang.org/x/text/unicode/bidi"
)

// oracle is x/net/idna as near to our policy as its options come: UTS #46,
// non-transitional, STD3 rules, joiners checked. Hyphens in the third and
// fourth place are left unchecked, as RFC 5321 allows them in labels of ASCII;
// so is the Bidi rule, which it holds whole names to where RFC 5891 asks it of
// labels: x/text's bidirule stands in. For what remains see knownDifference.
var oracle = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false))

// oracleToASCII adds the Bidi rule, label by label.
func oracleToASCII(domain string) (host string, err error) {
	if host, err = oracle.ToASCII(domain); err != nil {
		return "", err
	}
	form, err := oracle.ToUnicode(domain)
	for _, label := range strings.Split(form, ".") {
		if bidirule.DirectionString(label) != bidi.LeftToRight && !bidirule.ValidString(label) {
			return "", bidirule.ErrInvalid
		}
	}
	return host, err
}

// mapper maps alone.
var mapper = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.ValidateLabels(false))

// knownDifference reports whether the label, mapped, holds what UTS #46
// allows and we do not: symbols, emoji and punctuation, which IDNA2008
// disallows; contextual characters (x/net/idna has no CONTEXTO rules).
func knownDifference(mapped string) bool { return strings.ContainsFunc(mapped, onlyUTS46Allows) }

func onlyUTS46Allows(r rune) bool {
	letterOrDigit := unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lo, unicode.Nd, unicode.Lm, unicode.Mn, unicode.Mc)
	if r < 0x80 {
		return false
	}
	return !letterOrDigit ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		strings.ContainsRune("\u0640\u07FA\u302E\u302F\u3031\u3032\u3033\u3034\u3035\u303B", r) || // RFC 5892 section 2.6
		0x20D0 <= r && r <= 0x20FF || 0x1D100 <= r && r <= 0x1D24F || // section 2.4
		0x1100 <= r && r <= 0x11FF || 0xA960 <= r && r <= 0xA97C || 0xD7B0 <= r && r <= 0xD7FB || // section 2.9
		0x660 <= r && r <= 0x669 || 0x6F0 <= r && r <= 0x6F9 // appendix A.8, A.9
}

func TestMappingOfEveryCharacter(t *testing.T) {
	a := new(address)
	scalars(func(r rune) {
		if r < 0x80 || strings.ContainsRune("\u3002\uFF0E\uFF61\u1E9E", r) {
			return // three dots; and the capital sharp s, which UTS #46 maps to ß since revision 33
		}
		label := "0" + string(r) + "0"
		refusal := a.mapLabel([]byte(label), 0)
		want, err := mapper.ToUnicode(label)
		if refusal.Reason == Accepted {
			require.NoError(t, err, "%U", r)
			require.Equal(t, want, string(a.work.appendTo(nil)), "%U", r)
		} else if err == nil {
			require.True(t, knownDifference(want), "%U is refused", r)
			require.Equal(t, 1, refusal.Offset)
		}
	})
}

func TestEveryCharacterAsALabel(t *testing.T) {
	a := new(address)
	scalars(func(r rune) { agree(t, a, string(r)+".example") })
}

// FuzzDomain holds the domain to the oracle: same verdict, same A-labels.
func FuzzDomain(f *testing.F) {
	f.Add("B\u00FCcher.example")                    // mapped and encoded
	f.Add("xn--bcher-kva.XN--P1AI")                 // A-labels
	f.Add("xn--mgba3gch31f060k.com")                // an A-label with a joiner in its context
	f.Add("\u0915\u094D\u200D.\u0628\u200C\u0628")  // U-labels with joiners
	f.Add("\u05D0\u05D1.1\u0661\u06F1")             // right to left, digits of several kinds
	f.Add("a\u3002\uFF42\uFF0Ec\uFF61d")            // dots that are mapped
	f.Add("fa\u00DF.\u03C3\u03C2.l\u00B7l")         // deviations, context
	f.Add("\u30FB\u30AB.\u05F3\u05D0.\u0375\u03B1") // context rules kept and broken
	f.Add("xn--a.xn---.xn--0.xn--99999999")         // broken A-labels
	f.Add("a\u0301.\u0301a.-\u00E9.ab--\u00E9")     // marks and hyphens
	a := new(address)
	f.Fuzz(func(t *testing.T, domain string) { agree(t, a, domain) })
}

// agree fails where a's verdict or A-labels differ from the oracle's.
func agree(t *testing.T, a *address, domain string) {
	if len(domain) == 0 || domain[0] == '[' || strings.ContainsAny(domain, " \t\r\n(") {
		return // literals and CFWS are none of the oracle's business
	}
	refusal := a.parseAny([]byte("x@" + domain))
	host, err := oracleToASCII(domain)
	switch {
	case refusal.Reason == Accepted && strings.Contains(domain, "\u1E9E"): // ß, where the oracle has ss
	case refusal.Reason == Accepted && (err != nil || host != string(a.host)):
		t.Errorf("%+q becomes %s, want %s, %v", domain, a.host, host, err)
	case refusal.Reason == Accepted, err != nil, refusesMore(refusal.Reason), !utf8.ValidString(domain):
	default:
		form, _ := oracle.ToUnicode(domain)
		if !knownDifference(form) && !hasOddLabel(form) {
			t.Errorf("%+q is refused (%s)", domain, refusal.Reason.Code())
		}
	}
}

// hasOddLabel reports whether the domain has a label that the oracle leaves to
// others: empty, as when it held variation selectors alone, or with hyphens
// where RFC 5891 section 4.2.3.1 forbids them (the oracle counts octets there).
func hasOddLabel(domain string) bool {
	for _, label := range strings.Split(domain, ".") {
		r := []rune(label)
		if len(r) == 0 || r[0] == '-' || r[len(r)-1] == '-' || len(r) > 3 && r[2] == '-' && r[3] == '-' {
			return true
		}
	}
	return false
}

// refusesMore reports whether why is no business of IDNA: dots, lengths and
// LDH (the oracle's profile leaves them to others), hidden characters.
func refusesMore(why Reason) bool {
	switch why {
	case domainStartsWithDot, domainEndsWithDot, domainTwoDots, labelTooLong, domainTooLong, addressTooLong,
		labelStartsWithHyphen, labelEndsWithHyphen, labelHyphens,
		invisibleCharacter, bidiControl, controlCharacter, domainSpace:
		return true
	}
	return false
}
