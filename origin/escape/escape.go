// Package escape makes text that others chose harmless where it is shown: on a
// terminal and in a spreadsheet.
package escape

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
func Formula(text string) string { return formula.ReplaceAllString(text, "$1'$2") }

// formula matches a character that begins a formula at the start of a cell. With
// some system settings a semicolon or a tab starts a cell too.
var formula = regexp.MustCompile("(^|[;,\t\r\n])([=+\\-@\t\r\n\x00＝＋－＠])")
