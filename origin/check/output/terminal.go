package output

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/addrspec/addrspec/wasm/result"
)

// Whether to color a table.
const (
	ColorAuto   = "auto" // on a terminal, unless NO_COLOR is set or TERM is dumb
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colored reports whether to color what is written to out. NO_COLOR counts if it
// is not empty (no-color.org), and a flag is stronger than it.
func Colored(mode string, out io.Writer) bool {
	switch mode {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	return IsTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the number of columns of a terminal, or 0 if out is none.
func TerminalWidth(out io.Writer) int {
	if !IsTerminal(out) {
		return 0
	}
	width, _, _ := term.GetSize(int(out.(interface{ Fd() uintptr }).Fd())) // 0 on an error
	return width
}

// A style is a sequence "select graphic rendition" (ECMA-48 section 8.3.117), or "".
type style string

const (
	bold   style = "\x1b[1m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	reset        = "\x1b[0m"
)

// tones are the styles of verdicts.
var tones = map[string]style{result.ToneGood: green, result.ToneWarn: yellow, result.ToneBad: red}

// maxShown is how many bytes of an address a table shows: a valid one has at most
// 254 (RFC 5321 section 4.5.3.1.3).
const maxShown = 320

// noOffset is the offset of an address without an offending byte.
const noOffset = -1

// addressLines breaks an address into lines of at most width columns. Below the
// line with the byte at offset follows one with a caret; its index is returned, or
// -1. Dots are where it leaves out something of a very long address.
func addressLines(email string, offset, width int) (lines []string, caret int) {
	at := min(max(offset, 0), len(email))
	start := max(0, min(at-maxShown/2, len(email)-maxShown))
	end := min(len(email), start+maxShown)
	for start > 0 && start < at && !utf8.RuneStart(email[start]) {
		start++
	}
	for end < len(email) && end > at && !utf8.RuneStart(email[end]) {
		end--
	}
	before, rest := Printable(email[start:at]), Printable(email[at:end])
	if start > 0 {
		before = "…" + before
	}
	if end < len(email) {
		rest += "…"
	}
	rest, at, caret = before+rest, len(before), -1 // at counts from the line's begin
	for len(lines) == 0 || rest != "" {
		var line string
		line, rest = take(rest, width)
		lines = append(lines, line)
		if offset >= 0 && caret < 0 && (at < len(line) || at == len(line) && rest == "") {
			column := 0
			for g := uniseg.NewGraphemes(line); g.Next(); {
				if _, to := g.Positions(); to <= at {
					column += g.Width()
				}
			}
			caret = len(lines)
			lines = append(lines, strings.Repeat(" ", column)+"^")
		}
		at -= len(line)
	}
	return lines, caret
}

// textWidth is how many columns text takes.
func textWidth(text string) int { return uniseg.StringWidth(text) }

// take cuts text after the grapheme clusters that fit into width columns, at least one.
func take(text string, width int) (head, rest string) {
	columns := 0
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		columns += g.Width()
		if at, _ := g.Positions(); at > 0 && columns > width {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

// wrap breaks text into lines of at most width columns, between words if it can.
func wrap(text string, width int) (lines []string) {
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		w := textWidth(word)
		if line != "" && used+1+w <= width {
			line, used = line+" "+word, used+1+w
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line, word = take(word, width)
		for word != "" {
			lines = append(lines, line)
			line, word = take(word, width)
		}
		used = textWidth(line)
	}
	return append(lines, line)
}
