package output

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"jane@example.org":    "jane@example.org",
		"o'neil-smith+1@x.cz": "o'neil-smith+1@x.cz",
		"=1+1":                "'=1+1",
		"+1":                  "'+1",
		"-1":                  "'-1",
		"@SUM(A1)":            "'@SUM(A1)",
		"\t=1":                "'\t=1",
		"\r=1":                "'\r=1",
		"a\n=1":               "a\n'=1",
		"＝1":                  "'＝1",
		"x;=1":                "x;'=1",
		"x,-1":                "x,'-1",
		"laptop 2":            "laptop 2",
	} {
		require.Equal(t, want, Formula(text), "%q", text)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"=1", "\x1b[2J", "a\tb", "\u202e", "\xff", "\u0085", "\u2028", "\x7f", "jäne"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Printable(text) {
			require.True(t, unicode.IsGraphic(r) || r == unicode.ReplacementChar, "%q", r)
		}
		if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 {
			require.Equal(t, text, Printable(text))
		}
	})
}

// A regular expression finds the same characters.
func FuzzFormula(f *testing.F) {
	for _, text := range []string{"=1", "x;＝1", "a,-", "\x00", "é=", "x\n@y", "plain"} {
		f.Add(text)
	}
	oracle := regexp.MustCompile("(^|[;,\t\r\n])([=+\\-@\t\r\n\x00＝＋－＠])")
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, oracle.ReplaceAllString(text, "$1'$2"), Formula(text))
	})
}
