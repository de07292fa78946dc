package input

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// nextRow returns the record of the next row. Blank rows at the beginning are dropped, others before the header
// are the preamble.
func (r *Reader) nextRow() (pipeline.Record, error) {
	l := &r.layout
	for {
		record := pipeline.Record{Line: r.window.lines + 1}
		record.Cells, record.Err = r.window.row(l.Comma)
		switch {
		case record.Err == errMore:
			return record, errMore
		case record.Err == nil && l.skip == 0:
			record.Err = r.fill(&record)
			return record, nil
		case record.Err != nil:
			return record, nil
		}
		blank := filled(record.Cells) == 0
		if !blank {
			l.skip--
		}
		if l.skip > 0 && (!blank || len(l.Preamble) > 0) {
			_ = valid(record.Cells) // they are written in any case
			l.Preamble = append(l.Preamble, record.Cells)
		}
	}
}

// fill takes the address from the cells, without white space around it, and gives the row the table's width.
func (r *Reader) fill(record *pipeline.Record) error {
	l, cells := &r.layout, record.Cells
	if l.Width == 0 { // no row could be looked at
		l.Width = len(cells)
	}
	err := whole(cells, r.Reading().Encoding)
	if err != nil {
		return err
	}
	for len(cells) > l.Width && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	record.Cells = cells
	switch {
	case len(cells) > l.Width:
		return fmt.Errorf("the row has %d columns instead of %d: a cell with a separator in it needs quotation marks",
			len(cells), l.Width)
	case len(cells) <= l.column && filled(cells) > 0:
		return fmt.Errorf("the row ends after column %d, and the address is in column %d", len(cells), l.column+1)
	case len(cells) < l.Width:
		record.Cells = append(cells, make([]string, l.Width-len(cells))...)
	}
	record.Email = strings.TrimSpace(at(record.Cells, l.column))
	return garbled(record.Email)
}

var (
	errOpenQuote = errors.New("a quotation mark opens a cell in this row and is not closed; " +
		"the lines after this one are read on their own")
	errLongRow = fmt.Errorf("the row is longer than %d MiB; is this a list of addresses?", maxRow>>20)
)

// row takes the next row of CSV (RFC 4180) and returns its cells, without quotation marks, or why it is bad. What it
// returns does not depend on how much has arrived. As the dashboard's reader does, it goes beyond the RFC: a cell
// that goes on after its closing quotation mark is taken literally, since "john smith"@example.org is an address.
//
// It is our own, because with encoding/csv one missing quotation mark reads the rest of the input into one cell.
// That changes CRLF in cells to LF, does not know CR, and lets "john smith"@example.org continue up to a
// quotation mark in another row. FuzzRowsLikeStandardLibrary compares both.
func (w *window) row(comma byte) ([]string, error) {
	if !w.long {
		rest := w.rest()
		text := bytes.TrimPrefix(rest, []byte(markUTF8)) // files may have been joined
		cells, end, err := scan(text[:min(len(text), maxRow+1)], comma, w.ended())
		if err == errMore {
			return nil, err
		}
		end += len(rest) - len(text)
		if err != errLongRow {
			w.use(min(end+1, len(rest)))
			return cells, err
		}
		w.use(end)
		w.long = true
	}
	_, err := w.line()
	if err == errLong {
		err = errLongRow
	}
	return nil, err
}

// scan returns the cells of the row that begins text, and the line end after it. Of a bad row it returns where to
// read on: with a quotation mark that is not closed, that is the next line. It does not scan the lines after it
// again and again: when they were scanned as quoted text, quotation marks occurred in pairs, and a pair does not
// leave a cell open.
func scan(text []byte, comma byte, ended bool) (cells []string, end int, err error) {
	cells = make([]string, 0, 8)
	for start := 0; ; start = end + 1 {
		quoted, closed := quotedPart(text[start:])
		end = start + quoted
		next := 0 // bytes after the quoted part
		for end < len(text) && text[end] != comma && text[end] != '\n' && text[end] != '\r' {
			end, next = end+1, next+1
		}
		torn := next > 0 || end > maxRow || !closed && ended // most likely, a quotation mark is missing
		lineEnd := bytes.IndexAny(text[start:start+quoted], "\r\n")
		switch {
		case lineEnd >= 0 && torn:
			return nil, start + lineEnd, errOpenQuote
		case end > maxRow:
			return nil, end, errLongRow
		case !closed && ended:
			return nil, end, errOpenQuote
		case end == len(text) && (!ended || end == 0):
			return nil, 0, errMore
		}
		cell := string(text[start:end])
		if quoted > 0 && next == 0 {
			cell = strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`)
		}
		cells = append(cells, cell)
		if end == len(text) || text[end] != comma {
			return cells, end, nil
		}
	}
}

// quotedPart returns the length of the quoted part that begins a cell, with its marks, and if it is closed.
func quotedPart(cell []byte) (length int, closed bool) {
	if !bytes.HasPrefix(cell, []byte(`"`)) {
		return 0, true
	}
	for length = 1; ; length++ {
		next := bytes.IndexByte(cell[length:], '"')
		if next < 0 {
			return len(cell), false
		}
		length += next + 1
		if length == len(cell) || cell[length] != '"' {
			return length, true
		}
	}
}
