package main

import (
	"regexp"
	"strings"
	"unicode"
)

// printable replaces what could steer a terminal or break a line: control
// characters, ESC among them, and invisible ones that change the direction of
// writing.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// spreadsheetSafe keeps a spreadsheet from taking text for a formula (OWASP,
// "CSV Injection"; ASVS 5.0 1.2.10): a single quote goes before a character that
// begins one.
func spreadsheetSafe(text string) string {
	return printable(formula.ReplaceAllString(text, "$1'$2"))
}

// A formula begins a cell. Where the list separator of the system is another
// one than the comma, a cell begins after it as well.
var formula = regexp.MustCompile("(^|[;,\t\r\n])([=+\\-@\t\r\n\x00＝＋－＠])")
