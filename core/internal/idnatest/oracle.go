// Package idnatest has what the tests of core and core/idna compare with: the
// expectation of every character in core/idna's version of Unicode, and for whole
// domains an oracle, x/net/idna and x/text. The version of the oracle depends on the
// toolchain, so it decides only about characters that are alike in both versions.
package idnatest

import (
	"slices"
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
// does; toASCII does that. RequireRefused has the remaining differences.
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

// Assigned reports whether r is assigned in the toolchain's version of Unicode.
// Normalization and lower case of such a character are the same in all later ones.
func Assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

// alike reports whether the oracle has the same mapping of every character in
// domain, and in the U-labels of its A-labels, as the expectation.
func alike(domain string) bool {
	if idna.UnicodeVersion == Expect().Version {
		return true
	}
	decoded, _ := idna.Punycode.ToUnicode(strings.ToLower(domain))
	return !strings.ContainsFunc(domain+decoded, changed)
}

func changed(r rune) bool {
	if r < 0x80 {
		return false
	}
	to, err := mapper.ToUnicode("0" + string(r) + "0")
	switch want := Expect().Mapping(r); want.Status {
	case "X":
		return err == nil
	case "V", "D":
		return err != nil || to != "0"+string(r)+"0"
	default:
		return err != nil || to != "0"+want.To+"0"
	}
}

// RequireValid fails if the oracle does not convert the valid domain to host.
func RequireValid(t testing.TB, domain, host string) {
	if !alike(domain) {
		return
	}
	if want, err := toASCII(domain); err != nil || host != want {
		t.Errorf("%+q becomes %s, want %s, %v", domain, host, want, err)
	}
}

// RequireRefused fails if the oracle accepts domain, which was refused with code,
// unless that is a known difference.
func RequireRefused(t testing.TB, domain, code string) {
	if _, err := toASCII(domain); err != nil || !utf8.ValidString(domain) || !alike(domain) {
		return
	}
	form, _ := oracle.ToUnicode(domain)
	// UTS #46 allows symbols, emoji and punctuation, which IDNA2008 disallows, and
	// x/net/idna does not implement the CONTEXTO rules.
	onlyUTS46 := func(r rune) bool {
		return r >= 0x80 && Expect().Class(r) != "PVALID" && r != '\u200C' && r != '\u200D'
	}
	// The oracle does not check an empty label, for instance of variation selectors
	// only, or hyphens where RFC 5891 section 4.2.3.1 forbids them: it counts bytes there.
	unchecked := func(label string) bool {
		r := []rune(label)
		return len(r) == 0 || r[0] == '-' || r[len(r)-1] == '-' || len(r) > 3 && r[2] == '-' && r[3] == '-'
	}
	if !strings.ContainsFunc(form, onlyUTS46) && !slices.ContainsFunc(strings.Split(form, "."), unchecked) {
		t.Errorf("%+q is refused (%s)", domain, code)
	}
}
