// Package workbook reads a sheet of an Excel workbook (.xlsx, .xlsm) as CSV, so that
// nothing else has to know of workbooks.
//
// A cell has the text that Excel shows: a formula its last result, a number what its
// format says. A date whose format depends on the computer is written as 2006-01-31.
// A row without values is an empty line, but for those at the end.
//
// github.com/xuri/excelize reads the cells. It takes what it cannot read as the end
// of a sheet. So all sheets are scanned before, and a damaged one is an error. It gets
// a copy of the parts that were scanned, in a temporary directory. Macros, links,
// pictures and all other parts are never looked at.
package workbook

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// maxNames is how many names of sheets an error lists.
const maxNames = 20

// A Sheet is the text of a sheet as CSV: UTF-8, with commas and line feeds.
type Sheet struct {
	Name   string
	Others []string // the names of the other sheets

	temporary string // the directory
	file      *excelize.File
	rows      *excelize.Rows
	blank     int // rows without values before the next one
	text      bytes.Buffer
	csv       *csv.Writer
	err       error
}

// Open reads the sheet of a name, or of a number from 1 if no name is equal, hidden
// ones included. Without one it reads the first visible sheet that has a value. The
// file is not read any more when Open has returned.
func Open(file *os.File, name string) (_ *Sheet, err error) {
	s := &Sheet{}
	s.csv = csv.NewWriter(&s.text)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("the workbook: %w", err), s.Close())
		}
	}()
	defer caught(&err)
	s.temporary, err = os.MkdirTemp("", "addrspec-")
	if err != nil {
		return nil, err
	}
	scanned, err := os.Create(filepath.Join(s.temporary, "scanned.xlsx"))
	if err != nil {
		return nil, err
	}
	err = errors.Join(scan(file, scanned), scanned.Close())
	if err != nil {
		return nil, fmt.Errorf("%w: save it anew with Excel, or as CSV", err)
	}
	s.file, err = excelize.OpenFile(scanned.Name(), excelize.Options{
		TmpDir:            s.temporary,
		UnzipXMLSizeLimit: 1, // of sheets and shared strings: all are in temporary files
		ShortDatePattern:  "yyyy-mm-dd",
	})
	if err != nil {
		return nil, err
	}
	err = s.choose(name)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// choose begins the sheet of a name, or the first one with a value.
func (s *Sheet) choose(name string) error {
	names := s.file.GetSheetList()
	if name == "" {
		for n := range names {
			visible, err := s.file.GetSheetVisible(names[n])
			if visible {
				err = s.begin(names, n)
			}
			if err != nil || visible && s.err != io.EOF {
				return err
			}
		}
		return errors.New("no visible sheet has a value: name one of the hidden sheets, if there are any")
	}
	chosen := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	if chosen < 0 {
		number, _ := strconv.Atoi(name)
		chosen = number - 1
	}
	if chosen < 0 || chosen >= len(names) {
		listed := names[:min(len(names), maxNames)]
		return fmt.Errorf("it has no sheet %q: name one of its %d: %q", name, len(names), listed)
	}
	return s.begin(names, chosen)
}

// begin reads a sheet to its first value.
func (s *Sheet) begin(names []string, n int) (err error) {
	s.Name, s.Others, s.blank = names[n], slices.Delete(slices.Clone(names), n, n+1), 0
	s.rows, err = s.file.Rows(s.Name)
	if err == nil {
		s.err = s.next()
	}
	return err
}

// next takes the next row with a value, and the blank ones before it.
func (s *Sheet) next() (err error) {
	defer caught(&err)
	for s.rows.Next() {
		cells, err := s.rows.Columns()
		if err != nil {
			return err
		}
		if len(cells) == 0 {
			s.blank++
			continue
		}
		s.text.WriteString(strings.Repeat("\n", s.blank))
		s.blank = 0
		err = s.csv.Write(cells)
		s.csv.Flush()
		return err
	}
	err = errors.Join(s.rows.Error(), s.rows.Close())
	if err == nil {
		err = io.EOF
	}
	return err
}

// caught makes an error of a panic: number formats are programs of somebody else.
func caught(err *error) {
	if recover() != nil {
		*err = errors.New("a format of the workbook cannot be read: save it as CSV")
	}
}

// Read reads the text of whole rows.
func (s *Sheet) Read(p []byte) (int, error) {
	if s.text.Len() == 0 && s.err == nil {
		s.err = s.next()
	}
	if s.text.Len() == 0 {
		return 0, s.err
	}
	return s.text.Read(p)
}

// Close removes the temporary files.
func (s *Sheet) Close() (err error) {
	if s.rows != nil {
		err = s.rows.Close()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return errors.Join(err, os.RemoveAll(s.temporary))
}
