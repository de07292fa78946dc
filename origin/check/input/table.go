package input

import (
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/check"
)

// table has one address a row.
type table struct {
	rows   rows
	layout *layout
	skip   int // rows that are no records
	utf16  bool
}

func newTable(l *layout, utf16 bool) *table {
	t := &table{rows: rows{comma: l.comma}, layout: l, skip: l.skip, utf16: utf16}
	if l.names != nil {
		t.skip++
	}
	return t
}

func (t *table) line() int64 { return t.rows.lines }

// next returns the record of the next row that is not blank.
func (t *table) next(w *window) (r check.Record, err error) {
	for {
		row, err := t.rows.next(w)
		if err == errMore {
			return r, err
		}
		if t.skip > 0 && err == nil {
			t.skip--
			continue
		}
		r.Line, r.Cells = row.line, row.cells
		if r.Err = err; err == nil {
			r.Err = t.fill(&r)
		}
		return r, nil
	}
}

// fill takes the address from the cells, without white space around it, and gives
// the row the width of the table: what follows its cells in an output is then in
// columns.
func (t *table) fill(r *check.Record) error {
	if t.layout.width == 0 { // no row could be looked at
		t.layout.width = len(r.Cells)
	}
	width := t.layout.width
	for len(r.Cells) > width && r.Cells[len(r.Cells)-1] == "" {
		r.Cells = r.Cells[:len(r.Cells)-1]
	}
	if len(r.Cells) > width {
		return fmt.Errorf("the row has %d columns instead of %d: a cell with a separator in it needs quotation marks", len(r.Cells), width)
	}
	if len(r.Cells) <= t.layout.column {
		return fmt.Errorf("the row ends after column %d, and the address is in column %d", len(r.Cells), t.layout.column+1)
	}
	if missing := width - len(r.Cells); missing > 0 {
		r.Cells = append(r.Cells, make([]string, missing)...)
	}
	r.Email = strings.TrimSpace(r.Cells[t.layout.column])
	return garbled(r.Email, t.utf16)
}
