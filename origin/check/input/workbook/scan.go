package workbook

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// The bounds of a scan. Excel keeps to them.
const (
	maxUnpacked = 1 << 30   // bytes of all parts that are read
	maxSmall    = 16 << 20  // bytes of a part that is held in memory
	maxStrings  = 4 << 20   // shared strings: each takes 50 bytes of memory
	maxPiece    = 256 << 10 // bytes of a cell, a shared string or another piece of XML
	maxDepth    = 64        // of XML elements
)

// The parts that are read: large ones go to temporary files, small ones into memory.
var (
	large = regexp.MustCompile(`(?i)^xl/(worksheets/sheet.*|sharedstrings)\.xml$`)
	small = regexp.MustCompile(`(?i)^(\[content_types\]\.xml|_rels/\.rels|` +
		`xl/_rels/workbook.*\.rels|xl/(workbook.*|styles|\w+sheets/.*)\.xml)$`)
)

// scan copies the parts that are read. Each must be within the bounds and undamaged, because excelize takes damage as
// the end of a sheet.
func scan(file *os.File, to io.Writer) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	in, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
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

type scanner struct{ strings int } // that are shared

// part requires that a part is well-formed, as far as excelize reads it, and has its checksum.
func (s *scanner) part(part *zip.File) error {
	unpacked, err := part.Open()
	if err != nil {
		return err
	}
	defer unpacked.Close()
	in := &io.LimitedReader{R: unpacked}
	decoder, depth := xml.NewDecoder(in), 0
	for {
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
	case "c":
		return decoder.Skip()
	case "si":
		s.strings++
		if s.strings > maxStrings {
			return fmt.Errorf("more than %d shared strings", maxStrings)
		}
		return decoder.Skip()
	}
	return nil
}
