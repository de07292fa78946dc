package output

import (
	"strings"

	"github.com/rivo/uniseg"
)

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
			if head, word, _ = take(word, width); word == "" {
				word = head // a single cluster that is wider than the column
				break
			}
			lines, w = append(lines, head), uniseg.StringWidth(word)
		}
		line, used = word, w
	}
	return append(lines, line)
}
