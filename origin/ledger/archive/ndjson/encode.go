package ndjson

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
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

// maxLine bounds a line. The longest value is a stored answer; a body of 1 MiB
// makes one of at most 6 MiB, which base 64 makes 8.
const maxLine = 16 << 20

// Counts is the number of rows of each table.
type Counts map[string]int64

// An Encoder writes an export. Its memory is one line.
type Encoder struct {
	out  *bufio.Writer
	sum  hash.Hash
	line []byte
	Rows Counts
}

// NewEncoder returns an encoder to w.
func NewEncoder(w io.Writer) *Encoder {
	e := &Encoder{sum: sha256.New(), Rows: Counts{}}
	e.out = bufio.NewWriterSize(io.MultiWriter(w, e.sum), 1<<16)
	return e
}

// Header writes the first line.
func (e *Encoder) Header() error {
	return e.value(header{formatName, formatVersion, Schema})
}

// Begin starts a table. lastID counts only if the table is numbered.
func (e *Encoder) Begin(t Table, lastID int64) error {
	e.Rows[t.Name] = 0
	line := tableLine{Table: t.Name, Columns: t.Names()}
	if t.Numbered {
		line.LastID = &lastID
	}
	return e.value(line)
}

// Row writes a row of t. Its values are int64, string, bool, []byte or nil.
func (e *Encoder) Row(t Table, values []any) error {
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
func (e *Encoder) End() error {
	if err := e.out.Flush(); err != nil {
		return err
	}
	if err := e.value(endLine{e.Rows, hex.EncodeToString(e.sum.Sum(nil))}); err != nil {
		return err
	}
	return e.out.Flush()
}

func (e *Encoder) value(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = e.out.Write(append(line, '\n'))
	}
	return err
}

// appendValue appends a value as JSON. SQLite returns booleans as numbers.
func appendValue(to []byte, k Kind, v any) ([]byte, error) {
	if v == nil {
		return append(to, "null"...), nil
	}
	switch v := v.(type) {
	case int64:
		if k == Boolean {
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
