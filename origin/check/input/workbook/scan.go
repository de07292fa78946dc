package workbook

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The bounds. Excel keeps to them, but for columns.
const (
	maxParts     = 10_000    // entries of the zip file
	maxDirectory = 4 << 20   // bytes of their list
	maxUnpacked  = 1 << 30   // bytes of all parts that are read
	maxSmall     = 16 << 20  // bytes of a part that is held in memory
	maxStrings   = 256 << 20 // bytes of the shared strings
	maxCount     = 4 << 20   // shared strings: each takes 50 bytes of memory
	maxEntries   = 10_000    // sheets, relationships and number formats, which are searched one by one
	maxEntry     = 4 << 10   // bytes of an attribute of one
	maxDepth     = 64        // of XML elements
	maxToken     = 256 << 10 // bytes of a cell, a shared string or another piece of XML
	maxColumns   = 1_000     // as in CSV
)

// limits are the patterns of the parts that are read, in small letters, and their sizes.
var limits = map[string]uint64{
	"[[]content_types].xml":    maxSmall,
	"_rels/.rels":              maxSmall,
	"xl/workbook*.xml":         maxSmall,
	"xl/_rels/workbook*.rels":  maxSmall,
	"xl/styles.xml":            maxSmall,
	"xl/*sheets/*.xml":         maxSmall,
	"xl/worksheets/sheet*.xml": maxUnpacked,
	"xl/sharedstrings.xml":     maxStrings,
}

// A directory is a file of which at most left bytes are read.
type directory struct {
	io.ReaderAt
	left int
}

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	d.left -= len(p)
	if d.left < 0 {
		return 0, fmt.Errorf("the list of its parts is longer than %d bytes", maxDirectory)
	}
	return d.ReaderAt.ReadAt(p, at)
}

// A tokenReader is a part, which fails when more than left bytes are read.
type tokenReader struct {
	io.Reader
	left int
}

func (t *tokenReader) Read(p []byte) (int, error) {
	if t.left <= 0 {
		return 0, fmt.Errorf("a cell or tag is longer than %d bytes", maxToken)
	}
	n, err := t.Reader.Read(p)
	t.left -= n
	return n, err
}

// scan copies the parts that are read, and nothing that excelize would read as less or
// as something else, without an error.
func scan(file *os.File, to io.Writer) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	from := &directory{file, maxDirectory}
	in, err := zip.NewReader(from, info.Size())
	if err != nil {
		return err
	}
	if len(in.File) > maxParts {
		return fmt.Errorf("it has more than %d parts", maxParts)
	}
	from.left = math.MaxInt
	out, c, unpacked := zip.NewWriter(to), check{}, uint64(0)
	for _, part := range in.File {
		part.Name = strings.ReplaceAll(part.Name, `\`, "/")
		limit := uint64(0)
		for pattern, size := range limits {
			is, _ := path.Match(pattern, strings.ToLower(part.Name))
			if is {
				limit = max(limit, size)
			}
		}
		if limit == 0 {
			continue
		}
		unpacked += part.UncompressedSize64 // archive/zip requires it
		if part.UncompressedSize64 > limit || unpacked > maxUnpacked {
			return fmt.Errorf("%.60q is larger than %d bytes, or all parts than %d", part.Name, limit, maxUnpacked)
		}
		err = c.part(part)
		if err != nil {
			return fmt.Errorf("%.60q: %w", part.Name, err)
		}
		err = out.Copy(part)
		if err != nil {
			return err
		}
	}
	if c.used > c.strings {
		return fmt.Errorf("cell %s has a shared string that does not exist", c.user)
	}
	return out.Close()
}

// A check goes through the parts. Their elements have different names.
type check struct {
	entries int
	strings int    // that are shared
	used    int    // how many of them cells need
	user    string // the cell that needs the last one

	rows        bool // their list is open
	row, column int  // of the last cell
}

// part requires that a part is well-formed to its end, with the archive's checksum.
func (c *check) part(part *zip.File) error {
	unpacked, err := part.Open()
	if err != nil {
		return err
	}
	defer unpacked.Close()
	c.rows, c.row = false, 0
	in, depth, roots := &tokenReader{Reader: unpacked}, 0, 0
	for decoder := xml.NewDecoder(in); ; {
		in.left = maxToken
		token, err := decoder.Token()
		if err == io.EOF && roots == 1 {
			return nil
		}
		switch t := token.(type) {
		case xml.Directive:
			err = errors.New("a document type is not allowed")
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			err = c.element(decoder, t)
			if t.Name.Local == "c" || t.Name.Local == "si" {
				depth-- // it was read to its end
			}
		case xml.EndElement:
			depth--
			c.rows = c.rows && t.Name.Local != "sheetData"
		}
		if err == nil && depth > maxDepth {
			err = fmt.Errorf("more than %d elements within each other", maxDepth)
		}
		if err != nil {
			line, _ := decoder.InputPos()
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// element checks an element, cells and shared strings to their ends.
func (c *check) element(decoder *xml.Decoder, element xml.StartElement) error {
	switch element.Name.Local {
	case "sheet", "Relationship", "numFmt":
		c.entries++
		for _, a := range element.Attr {
			if c.entries > maxEntries || len(a.Value) > maxEntry {
				return fmt.Errorf("more than %d sheets and formats, or one of %d bytes", maxEntries, len(a.Value))
			}
		}
	case "si":
		c.strings++
		if c.strings > maxCount {
			return fmt.Errorf("more than %d shared strings", maxCount)
		}
		return decoder.Skip()
	case "sheetData":
		c.rows = true
	case "row":
		number, err := c.row+1, error(nil)
		for _, a := range element.Attr {
			if a.Name.Local == "r" {
				number, err = strconv.Atoi(a.Value)
			}
		}
		if c.rows && (err != nil || number <= c.row || number > excelize.TotalRows) {
			return fmt.Errorf("the row after row %d has no higher number up to %d", c.row, excelize.TotalRows)
		}
		c.row, c.column = number, 0
	case "c":
		return c.cell(decoder, element)
	}
	return nil
}

func (c *check) cell(decoder *xml.Decoder, start xml.StartElement) error {
	var cell struct {
		Name    string    `xml:"r,attr"`
		Style   uint32    `xml:"s,attr"`
		Kind    string    `xml:"t,attr"`
		Value   string    `xml:"v"`
		Formula *struct{} `xml:"f"`
		Inline  *struct{} `xml:"is"`
	}
	err := decoder.DecodeElement(&cell, &start)
	if err != nil || !c.rows {
		return err
	}
	column, row := c.column+1, c.row
	if cell.Name != "" {
		column, row, err = excelize.CellNameToCoordinates(cell.Name)
	}
	if err != nil || row != c.row || column <= c.column {
		return fmt.Errorf("the cell after row %d, column %d is not to the right of it", c.row, c.column)
	}
	c.column = column
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil || column > maxColumns && (cell.Value != "" || cell.Formula != nil || cell.Inline != nil) {
		return fmt.Errorf("cell %s is beyond %d columns", name, maxColumns)
	}
	if cell.Kind == "s" && cell.Value != "" {
		index, err := strconv.ParseUint(strings.TrimSpace(cell.Value), 10, 31)
		if err != nil {
			return fmt.Errorf("cell %s has no number of a shared string", name)
		}
		if int(index) >= c.used {
			c.used, c.user = int(index)+1, name
		}
	}
	return nil
}
