// Package workbook reads a sheet of an Excel workbook (.xlsx, .xlsm) as CSV, so that nothing else has to know of
// workbooks.
//
// A cell has the text that Excel shows: a formula its last result, a number what its format says. A date whose format
// depends on the computer is written as 2006-01-31. A row without values is an empty line, but for those at the end.
//
// github.com/xuri/excelize reads the cells. It takes damage as the end of a sheet, so all sheets are scanned before, and
// a damaged one is an error. It gets a copy of the parts that were scanned, in a temporary directory. Macros, links,
// pictures and all other parts are never looked at. A cell that no spreadsheet program writes, such as one to the left
// of the cell before it, is read as excelize reads it.
package workbook

import (
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

// maxColumns bounds the cells of a row. Excel has more, but a list has not.
const maxColumns = 1_000

// A Sheet is the text of a sheet as CSV: UTF-8, with commas and line feeds.
type Sheet struct {
	Name   string
	Others []string // the names of the other sheets

	*os.File // with the text, a temporary one
}

// Open reads the sheet of a name, or of a number from 1 if no name is equal, hidden ones included; without one the
// first visible sheet that has a value. All of it is read by then, so that an error comes before the first row.
// Temporary files are in the directory, or in the system's for "".
func Open(file *os.File, name, directory string) (*Sheet, error) {
	temporary, err := os.MkdirTemp(directory, "addrspec-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	scanned, err := os.Create(filepath.Join(temporary, "scanned.xlsx"))
	if err != nil {
		return nil, err
	}
	err = errors.Join(scan(file, scanned), scanned.Close())
	if err != nil {
		return nil, damaged(err)
	}
	book, err := excelize.OpenFile(scanned.Name(), excelize.Options{
		TmpDir:            temporary,
		UnzipXMLSizeLimit: 1, // of sheets and shared strings: all are in temporary files
		ShortDatePattern:  "yyyy-mm-dd",
	})
	if err != nil {
		return nil, damaged(err)
	}
	defer book.Close()
	text, err := os.CreateTemp(directory, "addrspec-*.csv")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(text.Name()) // so that a run that is killed leaves nothing; on Windows Close does it
	s := &Sheet{File: text}
	err = s.choose(book, name)
	// excelize ignores a full disk: it loses shared strings.
	space := os.WriteFile(filepath.Join(temporary, "space"), make([]byte, maxPiece), 0o600)
	if err != nil || space != nil {
		return nil, errors.Join(space, err, s.Close())
	}
	return s, nil
}

func damaged(err error) error {
	return fmt.Errorf("the workbook: %w: save it anew with Excel, or as CSV", err)
}

func (s *Sheet) choose(book *excelize.File, name string) error {
	names := book.GetSheetList()
	if name != "" {
		n := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		if n < 0 {
			number, _ := strconv.Atoi(name)
			n = number - 1
		}
		if n < 0 || n >= len(names) {
			return fmt.Errorf("the workbook has no sheet %q: name one of its %d: %q", name, len(names), names)
		}
		_, err := s.write(book, names, n)
		return err
	}
	for n := range names {
		visible, err := book.GetSheetVisible(names[n])
		rows := 0
		if visible {
			rows, err = s.write(book, names, n)
		}
		if err != nil || rows > 0 {
			return err
		}
	}
	return errors.New("no visible sheet of the workbook has a value: name a hidden one, if there is any")
}

func (s *Sheet) write(book *excelize.File, names []string, n int) (rows int, err error) {
	// Number formats are programs of somebody else.
	defer func() {
		if recover() != nil {
			err = errors.New("a format of the workbook cannot be read: save it as CSV")
		}
	}()
	s.Name, s.Others = names[n], slices.Delete(slices.Clone(names), n, n+1)
	in, err := book.Rows(s.Name)
	if err != nil {
		return 0, damaged(err)
	}
	defer in.Close()
	out, blank, size := csv.NewWriter(s), 0, 0
	for in.Next() {
		cells, err := in.Columns()
		if err != nil {
			return rows, damaged(err)
		}
		if len(cells) == 0 {
			blank++
			continue
		}
		for ; blank > 0; blank-- {
			out.Write(nil) // an error comes again
		}
		rows++
		if len(cells) > maxColumns {
			return rows, fmt.Errorf("sheet %q: more than %d columns have values in a row", s.Name, maxColumns)
		}
		err = out.Write(cells)
		if err != nil {
			return rows, err
		}
		for _, cell := range cells {
			size += len(cell)
		}
		if size > maxUnpacked {
			return rows, fmt.Errorf("sheet %q has more than %d bytes of text: divide it", s.Name, maxUnpacked)
		}
	}
	out.Flush()
	_, err = s.Seek(0, io.SeekStart)
	return rows, errors.Join(in.Error(), out.Error(), err)
}

// Close removes the text.
func (s *Sheet) Close() error {
	err := s.File.Close()
	_ = os.Remove(s.File.Name())
	return err
}
