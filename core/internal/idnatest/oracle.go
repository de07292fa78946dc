// Package idnatest has the oracle for the tests of core/idna and core: what
// x/net/idna and x/text, of the same version of Unicode, make of a domain.
package idnatest

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/secure/bidirule"
	"golang.org/x/text/unicode/bidi"
)

// Scalars calls f with every Unicode scalar value.
func Scalars(f func(r rune)) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			f(r)
		}
	}
}

// oracle is x/net/idna as near to our policy as its options come: UTS #46,
// non-transitional, STD3 rules, joiners checked. Hyphens in the third and
// fourth place are left unchecked, as RFC 5321 allows them in labels of ASCII;
// so is the Bidi rule, which it holds whole names to where RFC 5891 asks it of
// labels: x/text's bidirule stands in. For what remains see KnownDifference.
var oracle = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false))

// toASCII adds the Bidi rule, label by label.
func toASCII(domain string) (host string, err error) {
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

// Map returns what UTS #46 maps label to.
func Map(label string) (string, error) { return mapper.ToUnicode(label) }

// KnownDifference reports whether the label, mapped, holds what UTS #46
// allows and we do not: symbols, emoji and punctuation, which IDNA2008
// disallows; contextual characters (x/net/idna has no CONTEXTO rules).
func KnownDifference(mapped string) bool { return strings.ContainsFunc(mapped, onlyUTS46Allows) }

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

// RequireValid fails if the oracle does not convert the valid domain to host.
func RequireValid(t testing.TB, domain, host string) {
	if strings.Contains(domain, "\u1E9E") {
		return // ß, where the oracle has ss
	}
	if want, err := toASCII(domain); err != nil || host != want {
		t.Errorf("%+q becomes %s, want %s, %v", domain, host, want, err)
	}
}

// RequireRefused fails if the oracle accepts domain, which is refused for
// code, and the difference is not a known one.
func RequireRefused(t testing.TB, domain, code string) {
	if _, err := toASCII(domain); err != nil || !utf8.ValidString(domain) {
		return
	}
	form, _ := oracle.ToUnicode(domain)
	if !KnownDifference(form) && !hasOddLabel(form) {
		t.Errorf("%+q is refused (%s)", domain, code)
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
