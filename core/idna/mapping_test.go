package idna

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/core/internal/ascii"
	"github.com/addrspec/addrspec/core/internal/idnatest"
)

// TestMappingOfEveryCharacter compares with the mapping of UTS #46. Of what that
// allows, characters that RFC 5892 disallows are refused.
func TestMappingOfEveryCharacter(t *testing.T) {
	c, expected := new(Converter), idnatest.Expect()
	notAllowed := func(r rune) bool { return expected.Class(r) == "" }
	idnatest.Scalars(func(r rune) {
		if r < 0x80 || IsDot(r) {
			return // package core splits at dots
		}
		m := expected.Mapping(r)
		if m.Status == "V" || m.Status == "D" {
			m.To = string(r)
		}
		label := []byte("0" + string(r) + "0")
		if m.Status == "X" || strings.ContainsFunc(m.To, notAllowed) {
			c.Reset()
			if c.AppendLabel(label) != (Violation{Rule: Character, Offset: 1}) {
				t.Errorf("%U is not refused", r)
			}
			return
		}
		v := c.mapLabel(label)
		if got, want := string(c.text.appendTo(nil)), "0"+m.To+"0"; v.Rule != None || got != want {
			t.Errorf("%U becomes %+q, want %+q", r, got, want)
		}
	})
}

// TestLabelsAreJudgedInNFC: every normalization form of a label has the same result.
func TestLabelsAreJudgedInNFC(t *testing.T) {
	same := func(forms ...string) {
		want, rule := hostOf(forms[0])
		for _, form := range forms[1:] {
			if host, r := hostOf(form); r != rule || host != want {
				t.Errorf("%+q is %s, rule %d; %+q is %s, rule %d", forms[0], want, rule, form, host, r)
			}
		}
	}
	for _, f := range idnatest.Expect().Forms {
		if ascii.Is([]byte(f.Composed)) || strings.Contains(f.Source, "\u0345b") != strings.Contains(f.Composed, "\u0345b") {
			continue // no letter; a mark that UTS #46 maps to a letter before NFC orders it
		}
		same("0"+f.Composed, "0"+f.Source, "0"+f.Decomposed)
	}
	for r := rune(hangulBase); r < hangulEnd; r++ {
		same(string(r), norm.NFD.String(string(r)))
		_, rule := hostOf(string(r))
		require.Equal(t, None, rule)
	}
	same("e\u0301\u0323x", "\u00e9\u0323x", "\u1eb9\u0301x") // a mark after a letter that else needs no decomposition
	same("e\u00ad\u0301\u0323x", "\u00e9\u00ad\u0323x")      // an ignored character between them
	same("한", "ㅎㅏ\u11AB", "\uFFBEￂ\u11AB")                   // jamo of a keyboard, full and half width
	for _, alone := range []string{"ㅎ", "\u1112", "\u1161", "\u11AB", "a\u1112", "하\u1161", "\u1113\u1161"} {
		_, rule := hostOf(alone)
		require.Equal(t, Character, rule, "%+q", alone)
	}
}

// hostOf returns the A-label of label, and the rule that it violates.
func hostOf(label string) (host string, rule Rule) {
	var c Converter
	c.Reset()
	rule = c.AppendLabel([]byte(label)).Rule
	if rule != None {
		return "", rule
	}
	return string(c.Host), None
}

// TestPropertiesOfEveryCharacter compares with the derived properties of RFC 5892
// and the joining types.
func TestPropertiesOfEveryCharacter(t *testing.T) {
	expected := idnatest.Expect()
	classes := map[status]string{pvalid: "PVALID", contextJ: "CONTEXTJ", contextO: "CONTEXTO"}
	idnatest.Scalars(func(r rune) {
		p, class := propertiesOf(r), expected.Class(r)
		if classes[p.status()] != class {
			t.Errorf("%U is %q, want %q", r, classes[p.status()], class)
		}
		if class == "" {
			return
		}
		joining := expected.Joining(r)
		next, before := joining == "L" || joining == "D", joining == "R" || joining == "D"
		if p.joinsNext() != next || p.joinsBefore() != before || p.joinsThrough() != (joining == "T") {
			t.Errorf("%U has not the joining type %s", r, joining)
		}
		if p.isVirama() != expected.Viramas[r] {
			t.Errorf("%U is a virama: %t", r, p.isVirama())
		}
	})
}

func TestUnicodeVersion(t *testing.T) {
	require.Equal(t, idnatest.Expect().Version, UnicodeVersion, "run go run -C core/idna ./gentables gather")
}

// converter is one for all texts, since it is large.
var converter Converter

// composedOf returns the NFC of s according to this package.
func composedOf(s string, lowered bool) string {
	if lowered && utf8.ValidString(s) {
		return string(converter.AppendLowerNFC(nil, []byte(s)))
	}
	var t runes
	for _, r := range s {
		t.addDecomposed(r, lowered)
	}
	t.compose()
	return string(t.appendTo(nil))
}

// TestNormalization compares with the expected forms. A character without them is
// its own NFC.
func TestNormalization(t *testing.T) {
	alone := map[string]bool{}
	for _, f := range idnatest.Expect().Forms {
		for _, s := range []string{f.Source, f.Composed, f.Decomposed} {
			if got := composedOf(s, keepCase); got != f.Composed {
				t.Errorf("%+q: %+q, want %+q", s, got, f.Composed)
			}
		}
		alone[f.Source] = true
	}
	idnatest.Scalars(func(r rune) {
		if s := string(r); !alone[s] && composedOf(s, keepCase) != s {
			t.Errorf("%U is not its own NFC", r)
		}
	})
	for r := rune(hangulBase); r < hangulEnd; r++ {
		require.Equal(t, string(r), composedOf(norm.NFD.String(string(r)), keepCase))
	}
}

// lowerNFC returns the lower case of each character of the canonical
// decomposition of s, in NFC.
func lowerNFC(s string) string {
	return norm.NFC.String(strings.Map(unicode.ToLower, norm.NFD.String(s)))
}

// TestLowerCaseEveryCharacter compares with the toolchain's lower case, and with
// the expected one of what the toolchain does not know, none of which decomposes.
func TestLowerCaseEveryCharacter(t *testing.T) {
	idnatest.Scalars(func(r rune) {
		got, want := composedOf(string(r), lowerCase), lowerNFC(string(r))
		if lower := idnatest.Expect().Lower[r]; lower != 0 && newTo(r) {
			want = string(lower)
		}
		if got != want {
			t.Errorf("%U: %+q, want %+q", r, got, want)
		}
		if again := composedOf(got, lowerCase); again != got {
			t.Errorf("%U: %+q becomes %+q", r, got, again)
		}
	})
}

// newTo reports whether r is not assigned in the toolchain's version of Unicode. Normalization and
// lower case of an assigned character are the same in all later ones.
func newTo(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

func FuzzNFC(f *testing.F) {
	f.Add("e\u0301\u0323")                                                            // marks out of canonical order
	f.Add("\u1100\u1161\u11A8\u11A8")                                                 // Hangul
	f.Add("\uAC00\u11C3\uD7A4\u11A8\uAC01\u11A8\u1100\u1176\u1113\u1161\uAC00\u11A7") // characters adjacent to those that compose
	f.Add("a\u0345\u0301\u0300\u1FEF\u212B")                                          // singletons, blocked marks
	f.Add("\u00e9\u0323 \u00e9x")                                                     // a letter that needs no decomposition, and one that does
	f.Add("a\u0305\u0301\u0315")                                                      // a mark after one of its own class
	f.Add("\u0958\uFB2C\U0001D15E")                                                   // composition exclusions
	f.Add("\u0B47\u0300\u0B3E")                                                       // a mark that composes with a starter
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 253 || strings.ContainsFunc(s, newTo) {
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
	for i := range partners.low {
		require.GreaterOrEqual(t, partners.at(i), rune(firstMark))
		require.True(t, propertiesOf(partners.at(i)).composes())
	}
}
