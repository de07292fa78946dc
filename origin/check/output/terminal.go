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
	width, _, err := term.GetSize(int(out.(interface{ Fd() uintptr }).Fd()))
	if err != nil {
		return 0
	}
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
// -1.
func addressLines(email string, offset, width int) (lines []string, caret int) {
	before, after := window(email, offset)
	before, caret = Printable(before), -1
	rest, done := before+Printable(after), 0
	for len(lines) == 0 || rest != "" {
		var line string
		line, rest, _ = take(rest, width)
		lines = append(lines, line)
		last := rest == "" && len(before) == done+len(line)
		if offset >= 0 && caret < 0 && (len(before) < done+len(line) || last) {
			caret = len(lines)
			lines = append(lines, caretBelow(line, len(before)-done))
		}
		done += len(line)
	}
	return lines, caret
}

// caretBelow returns a line with a caret below the character at the offset.
func caretBelow(line string, offset int) string {
	column := 0
	for rest := line; offset > 0 && rest != ""; {
		head, after, w := take(rest, 1)
		if len(head) > offset { // the offset is inside this character
			break
		}
		rest, column, offset = after, column+w, offset-len(head)
	}
	return strings.Repeat(" ", column) + "^"
}

// window returns the text before and after an offset, with dots where it leaves out
// something of a very long address.
func window(email string, offset int) (before, after string) {
	offset = min(max(offset, 0), len(email))
	start := max(0, min(offset-maxShown/2, len(email)-maxShown))
	end := min(len(email), start+maxShown)
	for start > 0 && start < offset && !utf8.RuneStart(email[start]) {
		start++
	}
	for end < len(email) && end > offset && !utf8.RuneStart(email[end]) {
		end--
	}
	before, after = email[start:offset], email[offset:end]
	if start > 0 {
		before = "…" + before
	}
	if end < len(email) {
		after += "…"
	}
	return before, after
}

// textWidth is how many columns text takes.
func textWidth(text string) int { return uniseg.StringWidth(text) }

// take cuts text after the grapheme clusters that fit into width columns, at least
// one. It returns how many columns they take.
func take(text string, width int) (head, rest string, columns int) {
	state := -1
	for end := 0; ; {
		cluster, after, w, next := uniseg.FirstGraphemeClusterInString(text[end:], state)
		if cluster == "" || end > 0 && columns+w > width {
			return text[:end], text[end:], columns
		}
		end, columns, state = len(text)-len(after), columns+w, next
	}
}

// wrap breaks text into lines of at most width columns, between words if it can.
func wrap(text string, width int) (lines []string) {
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		w := uniseg.StringWidth(word)
		if line != "" && used+1+w <= width {
			line, used = line+" "+word, used+1+w
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for w > width {
			var head string
			head, word, _ = take(word, width)
			if word == "" {
				word = head // a single cluster that is wider than the column
				break
			}
			lines, w = append(lines, head), uniseg.StringWidth(word)
		}
		line, used = word, w
	}
	return append(lines, line)
}
