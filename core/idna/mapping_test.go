package idna

import (
	"strings"
	"testing"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
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
		v := c.mapLabel([]byte("0" + string(r) + "0"))
		if m.Status == "X" || strings.ContainsFunc(m.To, notAllowed) {
			if v != (Violation{Rule: Character, Offset: 1}) {
				t.Errorf("%U is not refused", r)
			}
		} else if got, want := string(c.text.appendTo(nil)), "0"+m.To+"0"; v.Rule != None || got != want {
			t.Errorf("%U becomes %+q, want %+q", r, got, want)
		}
	})
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
		if p.joinsNext() != strings.Contains("LD", joining) || p.joinsBefore() != strings.Contains("RD", joining) || p.joinsThrough() != (joining == "T") {
			t.Errorf("%U has not the joining type %s", r, joining)
		}
		if p.isVirama() != expected.Viramas[r] {
			t.Errorf("%U is a virama: %t", r, p.isVirama())
		}
	})
}

// TestNewCharacters has labels with characters that Unicode 15.1 to 17 added or
// changed.
func TestNewCharacters(t *testing.T) {
	for label, want := range map[string]string{
		"\U0002EBF0":                               "\U0002EBF0",                     // CJK extension I
		"\U00033479":                               "\U00033479",                     // CJK extension J
		"\U00010D50\U00010D65\U00010D69":           "\U00010D70\U00010D85\U00010D69", // Garay, right to left, two cases, a mark
		"\U00016EA0":                               "\U00016EBB",                     // Beria Erfe, two cases
		"\u1C89\uA7CB\uA7DC":                       "\u1C8A\u0264\u019B",             // new capitals, two of old letters
		"\U00016D63\U00016D67\U00016D67":           "\U00016D6A",                     // Kirat Rai, composed twice
		"\U00011382\U000113C9":                     "\U00011383",                     // Tulu-Tigalari
		"\U00016100\U0001611E\U0001611E\U0001611F": "\U00016100\U00016126",           // Gurung Khema, marks composed twice
		"\u10A0\u04C0":                             "\u2D00\u04CF",                   // mapped since UTS #46 of Unicode 16
	} {
		var c Converter
		c.Reset()
		require.Equal(t, Violation{}, c.AppendLabel([]byte(label)), "%+q", label)
		require.Equal(t, want, string(c.Domain), "%+q", label)
	}
	for label, rule := range map[string]Rule{
		"\U00010D70a": Bidi,        // Garay beside Latin
		"\U0001611E":  LeadingMark, // Gurung Khema
		"a\u2024b":    Character,   // one dot leader
	} {
		var c Converter
		c.Reset()
		require.Equal(t, rule, c.AppendLabel([]byte(label)).Rule, "%+q", label)
	}
}
