package output

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/addrspec/addrspec/wasm/result"
)

// Colored reports whether to color what is written to out: auto (on a terminal, unless
// NO_COLOR is set or TERM is dumb), always or never. NO_COLOR counts if it is not empty
// (no-color.org), and a flag is stronger than it.
func Colored(mode string, out io.Writer) bool {
	if mode != "auto" {
		return mode == "always"
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

// Sequences "select graphic rendition" (ECMA-48 section 8.3.117).
const (
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// tones are the styles of verdicts.
var tones = map[string]string{result.ToneGood: "\x1b[32m", result.ToneWarn: "\x1b[33m", result.ToneBad: "\x1b[31m"}

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

// maxShown is how many bytes of an address a table shows: a valid one has at most
// 254 (RFC 5321 section 4.5.3.1.3).
const maxShown = 320

// addressLines breaks an address into lines of at most width columns. Below the line
// with the byte that a refusal names follows one with a caret. Dots are in place of the rest
// of a very long address.
func addressLines(email string, why *result.Refusal, width int) (lines []string) {
	shown := email[:min(len(email), maxShown)]
	at := min(max(why.Offset, 0), len(shown)) // from the line's begin
	rest, before := Printable(shown[at:]), Printable(shown[:at])
	if len(email) > maxShown {
		rest += "…"
	}
	rest, at = before+rest, len(before)
	marked := why.Code == ""
	for len(lines) == 0 || rest != "" {
		var line string
		line, rest = take(rest, width)
		lines = append(lines, line)
		if !marked && (at < len(line) || rest == "") {
			lines = append(lines, strings.Repeat(" ", uniseg.StringWidth(line[:at]))+"^")
			marked = true
		}
		at -= len(line)
	}
	return lines
}

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
	line := ""
	for _, word := range strings.Fields(text) {
		joined := strings.TrimLeft(line+" "+word, " ")
		if uniseg.StringWidth(joined) <= width {
			line = joined
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
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
