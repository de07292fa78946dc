package input

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// table has one address a row.
type table struct {
	rows    rows
	layout  *layout
	skip    int    // rows that are no records, blank ones apart
	silent  int    // of these, the first ones that are not passed through
	decoded string // the encoding, "" of UTF-8
}

func (t *table) line() int64 { return t.rows.lines }

// next returns the record of the next row. Blank rows at the beginning are dropped, others before
// the header are the preamble.
func (t *table) next(w *window) (r pipeline.Record, err error) {
	for {
		row, err := t.rows.take(w)
		if err == errMore {
			return r, err
		}
		if t.skip > 0 && err == nil {
			blank := isBlank(row.cells)
			if !blank {
				t.skip--
				t.silent--
			}
			if t.silent < 0 && t.skip > 0 && (!blank || len(t.layout.preamble) > 0) {
				_ = valid(row.cells) // they are written in any case
				t.layout.preamble = append(t.layout.preamble, row.cells)
			}
			continue
		}
		r.Line, r.Cells = row.line, row.cells
		r.Err = err
		if err == nil {
			r.Err = t.fill(&r)
		}
		return r, nil
	}
}

// fill takes the address from the cells, without white space around it, and gives
// the row the width of the table: what follows its cells in an output is then in
// columns.
func (t *table) fill(r *pipeline.Record) error {
	width := t.layout.width
	if width == 0 { // no row could be looked at
		width = len(r.Cells)
		t.layout.width = width
	}
	if err := whole(r.Cells, t.decoded); err != nil {
		return err
	}
	for len(r.Cells) > width && r.Cells[len(r.Cells)-1] == "" {
		r.Cells = r.Cells[:len(r.Cells)-1]
	}
	switch {
	case len(r.Cells) > width:
		return fmt.Errorf("the row has %d columns instead of %d: a cell with a separator in it needs quotation marks", len(r.Cells), width)
	case len(r.Cells) <= t.layout.column && !isBlank(r.Cells):
		return fmt.Errorf("the row ends after column %d, and the address is in column %d", len(r.Cells), t.layout.column+1)
	case len(r.Cells) < width:
		r.Cells = append(r.Cells, make([]string, width-len(r.Cells))...)
	}
	r.Email = strings.TrimSpace(at(r.Cells, t.layout.column))
	return garbled(r.Email)
}

// The errors of a row.
var (
	errOpenQuote = errors.New("a quotation mark opens a cell in this row and is not closed; the lines after this one are read on their own")
	errLongRow   = fmt.Errorf("the row is longer than %d MiB; is this a list of addresses?", maxRow>>20)
	errManyCells = fmt.Errorf("the row has more than %d columns; is the separator right?", maxCells)
)

// A row is the cells of one row, without quotation marks.
type row struct {
	line  int64 // in which it begins
	cells []string
}

// rows takes rows of CSV (RFC 4180) from a window. Line breaks inside a cell remain
// as they are. As the dashboard's reader does, it goes beyond the RFC: LF, CRLF and
// CR end a row; rows may have different numbers of cells; a cell that goes on after
// its closing quotation mark is taken literally, since "john smith"@example.org is
// an address.
//
// It is our own, because encoding/csv has no limit for a row, so one missing
// quotation mark reads the rest of the input into one cell; it changes CRLF in cells
// to LF; it does not know CR; and its LazyQuotes lets "john smith"@example.org
// continue up to the next quotation mark before a comma, in another row.
// FuzzRowsLikeStandardLibrary compares both.
type rows struct {
	comma byte
	lines int64 // that were used
	afterCR
	scan     rowScan
	dropping int64    // the line in which a row began that is dropped as it comes, else 0
	room     []string // for the cells of further rows
}

// isBlank reports whether no cell has more than white space.
func isBlank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// take returns the next row. With a row that is bad it returns why. What it returns
// does not depend on how much has arrived.
func (r *rows) take(w *window) (row, error) {
	r.skipLF(w)
	if r.dropping > 0 {
		return r.drop(w)
	}
	rest := w.rest()
	if r.scan.at == 0 && len(rest) > 0 && strings.HasPrefix(markUTF8, string(rest[:min(len(rest), len(markUTF8))])) {
		switch { // files may have been joined
		case len(rest) >= len(markUTF8):
			w.use(len(markUTF8))
			rest = w.rest()
		case !w.ended():
			return row{}, errMore
		}
	}
	end, whole := r.scan.to(rest[:min(len(rest), maxRow+1)], r.comma)
	switch {
	case r.scan.torn || end > maxRow && r.scan.brk > 0:
		return r.reopen(w)
	case end > maxRow:
		r.startDrop(w, end)
		return r.drop(w)
	case whole || w.ended() && end > 0:
		return r.complete(w, end)
	}
	return row{}, errMore
}

// complete returns the row that ends at end.
func (r *rows) complete(w *window, end int) (row, error) {
	if r.scan.state == quoted {
		return r.reopen(w)
	}
	r.scan.endCell(end)
	found := row{r.lines + 1, nil}
	if r.scan.many {
		r.finish(w, end)
		return found, errManyCells
	}
	found.cells = r.cells(w.rest()[:end])
	r.finish(w, end)
	return found, nil
}

// reopen drops the present row up to the end of the line in which a quotation mark
// opened that was not closed, so that the lines after it are read. This takes
// linear time: when those lines were scanned as quoted text, quotation marks
// occurred in pairs, and a pair does not leave a cell open.
func (r *rows) reopen(w *window) (row, error) {
	found := row{r.lines + 1, nil}
	end := r.scan.brk
	if end == 0 {
		end = len(w.rest())
	}
	r.finish(w, end)
	return found, errOpenQuote
}

// startDrop drops the first end bytes of the present row, whose rest follows.
func (r *rows) startDrop(w *window, end int) {
	r.dropping = r.lines + 1
	r.lines += lineEnds(w.rest()[:end])
	w.use(end)
	r.scan = rowScan{spans: r.scan.spans[:0]}
}

// drop drops the rest of a line that is too long.
func (r *rows) drop(w *window) (row, error) {
	rest := w.rest()
	end := bytes.IndexAny(rest, "\r\n")
	if end < 0 && !w.ended() {
		w.use(len(rest))
		return row{}, errMore
	}
	if end < 0 {
		end = len(rest)
	}
	found := row{r.dropping, nil}
	r.dropping = 0
	r.finish(w, end)
	return found, errLongRow
}

// finish uses the present row, which ends at end.
func (r *rows) finish(w *window, end int) {
	if r.scan.multi {
		r.lines += lineEnds(w.rest()[:end])
	}
	r.lines++
	r.use(w, end)
	r.scan = rowScan{spans: r.scan.spans[:0]}
}

// lineEnds counts LF, CRLF and CR.
func lineEnds(text []byte) int64 {
	return int64(bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n")))
}

// cells returns the cells of the scanned row. They share one string.
func (r *rows) cells(raw []byte) []string {
	if n := len(r.scan.spans); cap(r.room)-len(r.room) < n {
		r.room = make([]string, 0, max(n, 1024))
	}
	first, text := len(r.room), string(raw)
	for _, s := range r.scan.spans {
		cell := text[s.start:s.end]
		if s.quoted {
			cell = strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`)
		}
		r.room = append(r.room, cell)
	}
	return r.room[first:len(r.room):len(r.room)]
}

// A rowScan is how far a row was scanned. All offsets are from its beginning.
type rowScan struct {
	at    int // the next byte
	state cellState
	start int // of the present cell
	spans []span
	many  bool // there are more cells than the limit
	multi bool // a cell has a line end
	brk   int  // the first line end in the present cell, or 0
	torn  bool // the present cell goes on after its closing quotation mark, in another line
}

// A span is where a cell is. A quoted one has its quotation marks.
type span struct {
	start, end int
	quoted     bool
}

// cellState is where in a cell the scan is.
type cellState uint8

const (
	atStart cellState = iota
	bare              // in a cell that is taken literally
	quoted
	closed // after a quotation mark that closes the cell, or is the first of two
)

// to scans on to the line end after the row, or to the end of rest. It stops at a
// torn cell: most likely a quotation mark is missing, and the one that ended the
// cell was to begin another.
func (s *rowScan) to(rest []byte, comma byte) (end int, whole bool) {
	for ; s.at < len(rest) && !s.torn; s.at++ {
		c := rest[s.at]
		lineEnd := c == '\n' || c == '\r'
		switch {
		case lineEnd && s.state != quoted:
			return s.at, true
		case s.state == bare && c != comma, s.state == quoted && c != '"' && !lineEnd: // most bytes; step does the same
		default:
			s.step(c, comma)
		}
	}
	return s.at, false
}

// step scans a byte within the row.
func (s *rowScan) step(c, comma byte) {
	switch {
	case s.state == quoted:
		s.stepQuoted(c)
	case c == comma:
		s.endCell(s.at)
	case c == '"' && s.state != bare:
		s.state = quoted // it opens the cell, or the one before it was doubled
	case s.state == closed && s.brk > 0:
		s.torn = true
	default:
		s.state = bare
	}
}

func (s *rowScan) stepQuoted(c byte) {
	switch c {
	case '"':
		s.state = closed
	case '\n', '\r':
		s.multi = true
		if s.brk == 0 {
			s.brk = s.at
		}
	}
}

// endCell ends the present cell at end.
func (s *rowScan) endCell(end int) {
	if len(s.spans) < maxCells {
		s.spans = append(s.spans, span{s.start, end, s.state == closed})
	} else {
		s.many = true
	}
	s.start, s.state, s.brk = end+1, atStart, 0
}
