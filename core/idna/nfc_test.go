package idna

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// The tests compare the tables with x/text/unicode/norm and x/net/idna, which
// must have the same version of Unicode.

func TestUnicodeVersion(t *testing.T) {
	require.Equal(t, unicode.Version, unicodeVersion, "run go generate ./core/idna")
	require.Equal(t, norm.Version, unicodeVersion)
	require.Equal(t, idna.UnicodeVersion, unicodeVersion)
}

// composedOf returns the NFC of s according to this package.
func composedOf(s string, lowered bool) string {
	var t runes
	for _, r := range s {
		t.addDecomposed(r, lowered)
	}
	t.compose()
	return string(t.appendTo(nil))
}

func TestNFCEveryCharacter(t *testing.T) {
	idnatest.Scalars(func(r rune) {
		if got, want := composedOf(string(r), keepCase), norm.NFC.String(string(r)); got != want {
			t.Errorf("%U: %+q, want %+q", r, got, want)
		}
	})
}

// lowerNFC returns the lower case of each character of the canonical
// decomposition of s, in NFC.
func lowerNFC(s string) string {
	return norm.NFC.String(strings.Map(unicode.ToLower, norm.NFD.String(s)))
}

func TestLowerCaseEveryCharacter(t *testing.T) {
	idnatest.Scalars(func(r rune) {
		got := composedOf(string(r), lowerCase)
		if want := lowerNFC(string(r)); got != want {
			t.Errorf("%U: %+q, want %+q", r, got, want)
		}
		if again := composedOf(got, lowerCase); again != got {
			t.Errorf("%U: %+q becomes %+q", r, got, again)
		}
	})
}

func FuzzNFC(f *testing.F) {
	f.Add("e\u0301\u0323")                                                            // marks out of canonical order
	f.Add("\u1100\u1161\u11A8\u11A8")                                                 // Hangul
	f.Add("\uAC00\u11C3\uD7A4\u11A8\uAC01\u11A8\u1100\u1176\u1113\u1161\uAC00\u11A7") // characters adjacent to those that compose
	f.Add("a\u0345\u0301\u0300\u1FEF\u212B")                                          // singletons, blocked marks
	f.Add("a\u0305\u0301\u0315")                                                      // a mark after one of its own class
	f.Add("\u0958\uFB2C\U0001D15E")                                                   // composition exclusions
	f.Add("\u0B47\u0300\u0B3E")                                                       // a mark that composes with a starter
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 253 {
			return
		}
		require.Equal(t, norm.NFC.String(s), composedOf(s, keepCase), "%+q", s)
		require.Equal(t, lowerNFC(s), composedOf(s, lowerCase), "%+q", s)
	})
}

// TestRunesMax checks that no label of 253 bytes and no local part of 64 bytes has
// more than runesMax characters after mapping and decomposition.
func TestRunesMax(t *testing.T) {
	var one runes
	idnatest.Scalars(func(r rune) {
		for _, c := range []struct {
			limit int
			add   func(*runes)
		}{
			{253, func(t *runes) { t.addMapped(r) }},
			{64, func(t *runes) { t.addDecomposed(r, lowerCase) }},
		} {
			one.reset()
			if c.add(&one); c.limit/utf8.RuneLen(r)*len(one.text) > runesMax {
				t.Errorf("%U becomes %d characters", r, len(one.text))
			}
		}
	})
}

// No character before firstMark has a combining class or composes with one before it.
func TestFirstMark(t *testing.T) {
	for r := range rune(firstMark) {
		require.Zero(t, propertiesOf(r).class(), "%U", r)
	}
	require.NotZero(t, propertiesOf(firstMark).class())
	first := rune(utf8.MaxRune)
	for _, i := range compositions {
		first = min(first, decompositions[i].second)
	}
	require.EqualValues(t, firstMark, first)
}
