package output

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/addrspec/addrspec/origin/escape"
)

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
	before, caret = escape.Printable(before), -1
	rest, done := before+escape.Printable(after), 0
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
