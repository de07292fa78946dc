package output

import (
	"regexp"
	"strings"
	"unicode"
)

// Printable replaces characters that could control a terminal or break a line:
// control characters such as ESC, and invisible ones that change the direction
// of writing.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Formula inserts a single quote before a character that begins a formula, so that
// a spreadsheet does not evaluate the text (OWASP, "CSV Injection"; ASVS 5.0
// 1.2.10).
func Formula(text string) string {
	if !mayHaveFormula(text) {
		return text
	}
	return formula.ReplaceAllString(text, "$1'$2")
}

// mayHaveFormula reports whether a byte that formula may match begins text or
// follows a separator. It saves most texts the regular expression.
func mayHaveFormula(text string) bool {
	const separators, wide = ";,\t\r\n", "\xEF" // the first byte of ＝ and the other wide ones
	for n := range len(text) {
		if n > 0 && strings.IndexByte(separators, text[n-1]) < 0 {
			continue
		}
		if strings.IndexByte("=+-@\t\r\n\x00"+wide, text[n]) >= 0 {
			return true
		}
	}
	return false
}

// formula matches a character that begins a formula at the start of a cell. With
// some system settings a semicolon or a tab starts a cell too.
var formula = regexp.MustCompile("(^|[;,\t\r\n])([=+\\-@\t\r\n\x00＝＋－＠])")
