package ndjson

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

var errNotText = errors.New("it is not valid UTF-8 text, or contains a zero byte")

// ErrDamaged is the error of a file that is not a whole export. The error that
// wraps it has the number of the line.
var ErrDamaged = errors.New("the file is damaged; make the export again, or use another copy of it")

// ErrVersion is the error of an export that another release of addrspec made.
var ErrVersion = errors.New("the export was made by another release of addrspec")

// A Decoder reads an export. Its memory is one line.
type Decoder struct {
	in     *bufio.Reader
	sum    hash.Hash // of the lines before the current one
	Line   int       // of the current line
	line   []byte    // the current line
	again  bool      // the next read returns the current line again
	Rows   Counts
	LastID int64 // of the current table
	id     int64 // of its last row
}

// NewDecoder returns a decoder of r.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New(), Rows: Counts{}}
}

// read makes the next line the current one. The end of the file is an error: the
// line with the checksum ends an export.
func (d *Decoder) read() error {
	if d.again {
		d.again = false
		return nil
	}
	d.sum.Write(d.line)
	d.Line++
	d.line = d.line[:0]
	for {
		part, err := d.in.ReadSlice('\n')
		if d.line = append(d.line, part...); len(d.line) > maxLine {
			return d.damaged("it is longer than %d bytes", maxLine)
		}
		if err == nil {
			return d.checkText()
		}
		if err != bufio.ErrBufferFull {
			return d.unreadable(err)
		}
	}
}

func (d *Decoder) checkText() error {
	if !utf8.Valid(d.line) {
		return d.damaged("it is not UTF-8")
	}
	return nil
}

func (d *Decoder) unreadable(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.damaged("the file ends here, before the line with the checksum")
	}
	return fmt.Errorf("line %d: %w: %w", d.Line, err, ErrDamaged)
}

func (d *Decoder) damaged(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", d.Line, fmt.Sprintf(format, args...), ErrDamaged)
}

// object decodes the current line strictly into v.
func (d *Decoder) object(what string, v any) error {
	in := json.NewDecoder(bytes.NewReader(d.line))
	in.DisallowUnknownFields()
	if in.Decode(v) != nil || len(bytes.TrimSpace(d.line[in.InputOffset():])) > 0 {
		return d.damaged("it is not %s", what)
	}
	return nil
}

// Header reads the first line.
func (d *Decoder) Header() error {
	if err := d.read(); err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(d.line, &h); err != nil || h.Format != formatName {
		return d.damaged("it does not begin an export of addrspec")
	}
	switch {
	case h.Version > formatVersion || h.Schema > Schema:
		return fmt.Errorf("line 1: %w: its format has version %d and its schema %d, this release reads %d and %d; import it with the newer release", ErrVersion, h.Version, h.Schema, formatVersion, Schema)
	case h.Version != formatVersion || h.Schema != Schema:
		return fmt.Errorf("line 1: %w: its schema has version %d, this release reads %d; import it into SQLite with that older release, then start this one on the file, which migrates it", ErrVersion, h.Schema, Schema)
	}
	return nil
}

// Begin reads the line that starts t.
func (d *Decoder) Begin(t Table) error {
	if err := d.read(); err != nil {
		return err
	}
	var line tableLine
	if err := d.object("the start of table "+t.Name, &line); err != nil {
		return err
	}
	if line.Table != t.Name || !slices.Equal(line.Columns, t.Names()) || (line.LastID != nil) != t.Numbered {
		return d.damaged("it does not start table %s with its columns", t.Name)
	}
	d.Rows[t.Name], d.LastID, d.id = 0, 0, 0
	if t.Numbered {
		d.LastID = *line.LastID
	}
	if d.LastID < 0 || d.LastID >= maxID {
		return d.damaged("last_id is out of range")
	}
	return nil
}

// maxID leaves room for IDs to come.
const maxID = 1 << 62

// Row reads a row of t: values as [Encoder.Row] takes them, or nil after the last.
func (d *Decoder) Row(t Table) ([]any, error) {
	if err := d.read(); err != nil {
		return nil, err
	}
	if d.line[0] == '{' {
		d.again = true
		return nil, nil
	}
	var raw []json.RawMessage
	if err := d.object("a row", &raw); err != nil {
		return nil, err
	}
	if len(raw) != len(t.Columns) {
		return nil, d.damaged("it has %d values, table %s has %d columns", len(raw), t.Name, len(t.Columns))
	}
	d.Rows[t.Name]++
	return d.values(t, raw)
}

func (d *Decoder) values(t Table, raw []json.RawMessage) ([]any, error) {
	values := make([]any, len(raw))
	for i, c := range t.Columns {
		var err error
		if values[i], err = parseValue(c.Kind, raw[i]); err != nil {
			return nil, d.damaged("column %s: it is not %s", c.Name, kindNames[c.Kind])
		}
	}
	if t.Numbered {
		id, _ := values[0].(int64)
		if id <= d.id || id > d.LastID {
			return nil, d.damaged("its ID is not between the row's before and last_id")
		}
		d.id = id
	}
	return values, nil
}

var kindNames = map[Kind]string{Integer: "a whole number", Text: "a string", Boolean: "true or false", Blob: "a string in base 64"}

// parseValue is the inverse of appendValue.
func parseValue(k Kind, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	switch k {
	case Integer:
		return parse[int64](raw)
	case Boolean:
		return parse[bool](raw)
	case Blob:
		s, err := parse[string](raw)
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.Strict().DecodeString(s)
	}
	s, err := parse[string](raw)
	if strings.ContainsRune(s, 0) {
		return nil, errNotText
	}
	return s, err
}

func parse[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// End reads the last line and compares its counts and its checksum with the lines
// before it.
func (d *Decoder) End() error {
	if err := d.read(); err != nil {
		return err
	}
	var line endLine
	if err := d.object("the line with the checksum", &line); err != nil {
		return err
	}
	switch {
	case !maps.Equal(line.Rows, d.Rows):
		return d.damaged("rows are missing or were added: the counts differ")
	case line.SHA256 != hex.EncodeToString(d.sum.Sum(nil)):
		return d.damaged("the checksum differs: a line before this one was changed")
	}
	if _, err := d.in.ReadByte(); err != io.EOF {
		d.Line++
		return d.damaged("there is text after the line with the checksum")
	}
	return nil
}
