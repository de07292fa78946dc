package workbook

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The bounds. Excel keeps to them, but for columns.
const (
	maxUnpacked = 1 << 30   // bytes of all parts that are read
	maxSmall    = 16 << 20  // bytes of a part that is held in memory
	maxStrings  = 4 << 20   // shared strings: each takes 50 bytes of memory
	maxPiece    = 256 << 10 // bytes of a cell, a shared string or another piece of XML
	maxDepth    = 64        // of XML elements
	maxColumns  = 1_000     // with values; excelize makes a cell of each
)

// The parts that are read: large ones go to temporary files, small ones into memory.
var (
	large = regexp.MustCompile(`(?i)^xl/(worksheets/sheet.*|sharedstrings)\.xml$`)
	small = regexp.MustCompile(`(?i)^(\[content_types\]\.xml|_rels/\.rels|` +
		`xl/_rels/workbook.*\.rels|xl/(workbook.*|styles|\w+sheets/.*)\.xml)$`)
)

// scan copies the parts that are read, and nothing that excelize would read as less or as something else.
func scan(file *os.File, to io.Writer) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	in, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	slices.SortStableFunc(in.File, func(a, b *zip.File) int { // shared strings before worksheets
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	out, s, unpacked := zip.NewWriter(to), scanner{}, uint64(0)
	for _, part := range in.File {
		part.Name = strings.ReplaceAll(part.Name, `\`, "/")
		limit := uint64(maxUnpacked)
		if !large.MatchString(part.Name) {
			limit = maxSmall
			if !small.MatchString(part.Name) {
				continue
			}
		}
		unpacked += part.UncompressedSize64 // archive/zip requires it
		if part.UncompressedSize64 > limit || unpacked > maxUnpacked {
			return fmt.Errorf("%.60q is larger than %d bytes, or all parts than %d", part.Name, limit, maxUnpacked)
		}
		err = s.part(part)
		if err == nil {
			err = out.Copy(part)
		}
		if err != nil {
			return fmt.Errorf("%.60q: %w", part.Name, err)
		}
	}
	return out.Close()
}

type scanner struct {
	strings     int // that are shared
	row, column int // of the last cell
}

// part requires that a part is well-formed, as far as excelize reads it, and has its checksum.
func (s *scanner) part(part *zip.File) error {
	unpacked, err := part.Open()
	if err != nil {
		return err
	}
	defer unpacked.Close()
	in := &io.LimitedReader{R: unpacked}
	decoder, depth := xml.NewDecoder(in), 0
	for s.row = 0; ; {
		in.N = maxPiece
		token, err := decoder.Token()
		if err == io.EOF && decoder.InputOffset() > 0 {
			return nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "c" && t.Name.Local != "si" { // they are read to their ends
				depth++
			}
			err = s.element(decoder, t)
		case xml.EndElement:
			depth--
			if t.Name.Local == "sheetData" {
				_, err = io.Copy(io.Discard, unpacked)
				return err
			}
		}
		switch {
		case err != nil && in.N <= 0:
			return fmt.Errorf("a cell or tag is longer than %d bytes", maxPiece)
		case err != nil:
			return err
		case depth > maxDepth:
			return fmt.Errorf("more than %d elements within each other", maxDepth)
		}
	}
}

func (s *scanner) element(decoder *xml.Decoder, element xml.StartElement) error {
	switch element.Name.Local {
	case "si":
		s.strings++
		if s.strings > maxStrings {
			return fmt.Errorf("more than %d shared strings", maxStrings)
		}
		return decoder.Skip()
	case "row":
		number, err := s.row+1, error(nil)
		for _, a := range element.Attr {
			if a.Name.Local == "r" {
				number, err = strconv.Atoi(a.Value)
			}
		}
		if err != nil || number <= s.row {
			return fmt.Errorf("the row after row %d has no higher number", s.row)
		}
		s.row, s.column = number, 0
	case "c":
		return s.cell(decoder, element)
	}
	return nil
}

func (s *scanner) cell(decoder *xml.Decoder, start xml.StartElement) error {
	var cell struct {
		Name  string    `xml:"r,attr"`
		Style uint32    `xml:"s,attr"`
		Kind  string    `xml:"t,attr"`
		Value string    `xml:"v"`
		Other *struct{} `xml:",any"` // a formula or an inline text
	}
	err := decoder.DecodeElement(&cell, &start)
	if err != nil {
		return err
	}
	column, row := s.column+1, s.row
	if cell.Name != "" {
		column, row, err = excelize.CellNameToCoordinates(cell.Name)
	}
	if err != nil || row != s.row || column <= s.column {
		return fmt.Errorf("the cell after row %d, column %d is not to the right of it", s.row, s.column)
	}
	s.column = column
	if column > maxColumns && (cell.Value != "" || cell.Other != nil) {
		return fmt.Errorf("row %d, column %d: more than %d columns have values", row, column, maxColumns)
	}
	if cell.Kind == "s" && cell.Value != "" {
		index, err := strconv.ParseUint(strings.TrimSpace(cell.Value), 10, 31)
		if err != nil || int(index) >= s.strings {
			return fmt.Errorf("row %d, column %d: there is no such shared string", row, column)
		}
	}
	return nil
}
