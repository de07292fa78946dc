package policy

import (
	"strings"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// quotedMax is the length of the longest text that an error repeats.
const quotedMax = 40

// quote returns text in quotes, or "this" if it is long, has characters that may not be
// visible, or may be an address.
func quote(text string) string {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '@' {
			return "this"
		}
	}
	if len(text) > quotedMax {
		return "this"
	}
	return `"` + text + `"`
}

// suggestion returns the end of an error: which of the known words is meant, or what
// they are.
func suggestion(text string, known []string) string {
	lower := string(ascii.AppendLower(nil, []byte(text)))
	best, least := "", 3
	for _, word := range known {
		if cost := edits(lower, word); cost < least && 2*cost < len(word) {
			best, least = word, cost
		}
	}
	if best == "" {
		return "; write one of " + strings.Join(known, ", ")
	}
	return `; did you mean "` + best + `"?`
}

// edits returns how many characters must be inserted, deleted or substituted to make b of
// a (the distance of Levenshtein), or a large number if a is long.
func edits(a, b string) int {
	if len(a) > quotedMax {
		return len(a)
	}
	var row [quotedMax + 1]int
	for i := range len(a) + 1 {
		row[i] = i
	}
	for j := range len(b) {
		diagonal := row[0]
		row[0] = j + 1
		for i := range len(a) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], cost
		}
	}
	return row[len(a)]
}
