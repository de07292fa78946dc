// Package idnatest compares domains converted by core and core/idna with an
// oracle: x/net/idna and x/text with the same version of Unicode.
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

// oracle is x/net/idna with the options closest to core/idna: UTS #46,
// non-transitional, STD3 rules, joiners checked. It does not check hyphens as
// third and fourth character, which RFC 5321 allows in ASCII labels, nor the Bidi
// rule, since it would apply it to whole names instead of labels as RFC 5891
// does; toASCII does that. For the remaining differences see KnownDifference.
var oracle = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false))

// toASCII returns the A-label form of domain. It applies the Bidi rule to each
// label.
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

// mapper maps without checks.
var mapper = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.ValidateLabels(false))

// Map returns the mapping of label by UTS #46.
func Map(label string) (string, error) { return mapper.ToUnicode(label) }

// KnownDifference reports whether a mapped label contains a character that
// UTS #46 allows and core/idna does not: symbols, emoji and punctuation, which
// IDNA2008 disallows, and characters with a CONTEXTO rule, which x/net/idna does
// not implement.
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
		return // ẞ, which the oracle maps to ss instead of ß
	}
	if want, err := toASCII(domain); err != nil || host != want {
		t.Errorf("%+q becomes %s, want %s, %v", domain, host, want, err)
	}
}

// RequireRefused fails if the oracle accepts domain, which was refused with code,
// unless that is a known difference.
func RequireRefused(t testing.TB, domain, code string) {
	if _, err := toASCII(domain); err != nil || !utf8.ValidString(domain) {
		return
	}
	form, _ := oracle.ToUnicode(domain)
	if !KnownDifference(form) && !hasOddLabel(form) {
		t.Errorf("%+q is refused (%s)", domain, code)
	}
}

// hasOddLabel reports whether domain has a label that the oracle does not check:
// an empty one, for instance of variation selectors only, or one with hyphens
// where RFC 5891 section 4.2.3.1 forbids them; the oracle counts bytes there.
func hasOddLabel(domain string) bool {
	for _, label := range strings.Split(domain, ".") {
		r := []rune(label)
		if len(r) == 0 || r[0] == '-' || r[len(r)-1] == '-' || len(r) > 3 && r[2] == '-' && r[3] == '-' {
			return true
		}
	}
	return false
}
