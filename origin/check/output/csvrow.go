package output

import (
	"bytes"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/origin/escape"
	"github.com/addrspec/addrspec/origin/result"
)

// A csvRow appends the cells of one row (RFC 4180).
type csvRow struct {
	dst   []byte
	comma byte
	safe  bool // escape what a spreadsheet would evaluate
	cells int
}

// add appends a cell.
func (r *csvRow) add(text string) {
	if r.safe {
		text = escape.Formula(text)
	}
	r.dst = appendCell(r.separate(), text, r.comma)
}

// value appends the cell of a JSON value. Most values are appended without a copy.
func (r *csvRow) value(v []byte) {
	switch {
	case r.safe || bytes.IndexByte(v, '\\') >= 0:
		r.add(result.Text(v))
	case len(v) > 1 && v[0] == '"':
		r.dst = appendCell(r.separate(), v[1:len(v)-1], r.comma)
	case len(v) == 4 && string(v) == "null":
		r.dst = r.separate()
	default:
		r.dst = appendCell(r.separate(), v, r.comma)
	}
}

// skip appends empty cells.
func (r *csvRow) skip(n int) {
	for range n {
		r.dst = r.separate()
	}
}

func (r *csvRow) separate() []byte {
	if r.cells++; r.cells > 1 {
		return append(r.dst, r.comma)
	}
	return r.dst
}

// appendCell appends a cell, in quotation marks if it needs them. As in
// encoding/csv, one that begins with white space gets them too.
func appendCell[T string | []byte](dst []byte, text T, comma byte) []byte {
	if !needsQuotes(text, comma) {
		return append(dst, text...)
	}
	dst = slices.Grow(dst, len(text)+2)
	dst = append(dst, '"')
	for n := range len(text) {
		if text[n] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, text[n])
	}
	return append(dst, '"')
}

func needsQuotes[T string | []byte](text T, comma byte) bool {
	if len(text) > 0 && strings.IndexByte(" \t", text[0]) >= 0 {
		return true
	}
	for n := range len(text) {
		if c := text[n]; c == comma || c == '"' || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}
