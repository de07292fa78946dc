package dashboard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxVisible is how many characters of a pasted text a page repeats.
const maxVisible = 320

// visible returns text with control, format and bidirectional characters written
// as their code points, so that it looks like what it is. A text that is far longer
// than an address is cut.
func visible(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > maxVisible {
			return fmt.Sprintf("%s… (%s bytes)", b.String(), formatNumber(int64(len(text))))
		}
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
