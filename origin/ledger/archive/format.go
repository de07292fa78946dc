package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	"strconv"
	"strings"
	"unicode/utf8"
)

// The lines of an export that are not rows.
type (
	header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Schema  int    `json:"schema"`
	}
	tableLine struct {
		Table   string   `json:"table"`
		Columns []string `json:"columns"`
		LastID  *int64   `json:"last_id,omitempty"`
	}
	endLine struct {
		Rows   Counts `json:"rows"`
		SHA256 string `json:"sha256"`
	}
)

const (
	formatName    = "addrspec ledger"
	formatVersion = 1
)

// maxLine bounds a line. The longest value is a stored response; a body of 1 MiB
// makes one of at most 6 MiB, which base 64 makes 8.
const maxLine = 16 << 20

// Counts is the number of rows of each table.
type Counts map[string]int64

// An encoder writes an export. Its memory is one line.
type encoder struct {
	out  *bufio.Writer
	sum  hash.Hash
	line []byte
	Rows Counts
}

// newEncoder returns an encoder to w.
func newEncoder(w io.Writer) *encoder {
	e := &encoder{sum: sha256.New(), Rows: Counts{}}
	e.out = bufio.NewWriterSize(io.MultiWriter(w, e.sum), 1<<16)
	return e
}

// Header writes the first line.
func (e *encoder) Header() error {
	return e.value(header{formatName, formatVersion, schemaVersion})
}

// Begin starts a table. lastID counts only if the table is numbered.
func (e *encoder) Begin(t table, lastID int64) error {
	e.Rows[t.Name] = 0
	line := tableLine{Table: t.Name, Columns: t.names()}
	if t.Numbered {
		line.LastID = &lastID
	}
	return e.value(line)
}

// Row writes a row of t. Its values are int64, string, bool, []byte or nil.
func (e *encoder) Row(t table, values []any) error {
	e.Rows[t.Name]++
	e.line = append(e.line[:0], '[')
	for i, v := range values {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		var err error
		if e.line, err = appendValue(e.line, t.Columns[i].Kind, v); err != nil {
			return fmt.Errorf("table %s, row %d, column %s: %w", t.Name, e.Rows[t.Name], t.Columns[i].Name, err)
		}
	}
	if e.line = append(e.line, "]\n"...); len(e.line) > maxLine {
		return fmt.Errorf("table %s, row %d: it is longer than %d bytes", t.Name, e.Rows[t.Name], maxLine)
	}
	_, err := e.out.Write(e.line)
	return err
}

// End writes the last line, and all that is buffered.
func (e *encoder) End() error {
	if err := e.out.Flush(); err != nil {
		return err
	}
	if err := e.value(endLine{e.Rows, hex.EncodeToString(e.sum.Sum(nil))}); err != nil {
		return err
	}
	return e.out.Flush()
}

func (e *encoder) value(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = e.out.Write(append(line, '\n'))
	}
	return err
}

// appendValue appends a value as JSON. SQLite returns booleans as numbers.
func appendValue(to []byte, k kind, v any) ([]byte, error) {
	if v == nil {
		return append(to, "null"...), nil
	}
	switch v := v.(type) {
	case int64:
		if k == boolean {
			return strconv.AppendBool(to, v != 0), nil
		}
		return strconv.AppendInt(to, v, 10), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	case string:
		return appendText(to, v)
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(to, '"'), v), '"'), nil
	}
	return nil, fmt.Errorf("a value of type %T cannot be exported", v)
}

// appendText refuses what PostgreSQL cannot store, so that every export can be
// imported there.
func appendText(to []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return nil, errNotText
	}
	quoted, err := json.Marshal(s)
	return append(to, quoted...), err
}

// uncompressed returns the text of an export that may be compressed. It recognises gzip by its first two bytes (RFC 1952 section 2.3.1).
func uncompressed(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	start, err := in.Peek(2)
	if err == nil && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("line 1: %w: %w", err, errDamaged)
		}
		return z, nil
	}
	return in, nil
}

var errNotText = errors.New("it is not valid UTF-8 text, or contains a zero byte")

// errDamaged is the error of a file that is not a whole export. The error that
// wraps it has the number of the line.
var errDamaged = errors.New("the file is damaged; make the export again, or use another copy of it")

// errVersion is the error of an export that another release of addrspec made.
var errVersion = errors.New("the export was made by another release of addrspec")

// A decoder reads an export. Its memory is one line.
type decoder struct {
	in     *bufio.Reader
	sum    hash.Hash // of the lines before the current one
	Line   int       // of the current line
	line   []byte    // the current line
	again  bool      // the next read returns the current line again
	Rows   Counts
	LastID int64 // of the current table
	id     int64 // of its last row
}

// newDecoder returns a decoder of r.
func newDecoder(r io.Reader) *decoder {
	return &decoder{in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New(), Rows: Counts{}}
}

// read makes the next line the current one. The end of the file is an error: the
// line with the checksum ends an export.
func (d *decoder) read() error {
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

func (d *decoder) checkText() error {
	if !utf8.Valid(d.line) {
		return d.damaged("it is not UTF-8")
	}
	return nil
}

func (d *decoder) unreadable(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.damaged("the file ends here, before the line with the checksum")
	}
	return fmt.Errorf("line %d: %w: %w", d.Line, err, errDamaged)
}

func (d *decoder) damaged(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", d.Line, fmt.Sprintf(format, args...), errDamaged)
}

// object decodes the current line strictly into v.
func (d *decoder) object(what string, v any) error {
	in := json.NewDecoder(bytes.NewReader(d.line))
	in.DisallowUnknownFields()
	if in.Decode(v) != nil || len(bytes.TrimSpace(d.line[in.InputOffset():])) > 0 {
		return d.damaged("it is not %s", what)
	}
	return nil
}

// Header reads the first line.
func (d *decoder) Header() error {
	if err := d.read(); err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(d.line, &h); err != nil || h.Format != formatName {
		return d.damaged("it does not begin an export of addrspec")
	}
	switch {
	case h.Version > formatVersion || h.Schema > schemaVersion:
		return fmt.Errorf("line 1: %w: its format has version %d and its schema %d, this release reads %d and %d; import it with the newer release", errVersion, h.Version, h.Schema, formatVersion, schemaVersion)
	case h.Version != formatVersion || h.Schema != schemaVersion:
		return fmt.Errorf("line 1: %w: its schema has version %d, this release reads %d; import it into SQLite with that older release, then start this one on the file, which migrates it", errVersion, h.Schema, schemaVersion)
	}
	return nil
}

// Begin reads the line that starts t.
func (d *decoder) Begin(t table) error {
	if err := d.read(); err != nil {
		return err
	}
	var line tableLine
	if err := d.object("the start of table "+t.Name, &line); err != nil {
		return err
	}
	if line.Table != t.Name || !slices.Equal(line.Columns, t.names()) || (line.LastID != nil) != t.Numbered {
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

// Row reads a row of t: values as [encoder.Row] takes them, or nil after the last.
func (d *decoder) Row(t table) ([]any, error) {
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

func (d *decoder) values(t table, raw []json.RawMessage) ([]any, error) {
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

var kindNames = map[kind]string{integer: "a whole number", text: "a string", boolean: "true or false", blob: "a string in base 64"}

// parseValue is the inverse of appendValue.
func parseValue(k kind, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	switch k {
	case integer:
		return parse[int64](raw)
	case boolean:
		return parse[bool](raw)
	case blob:
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
func (d *decoder) End() error {
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
