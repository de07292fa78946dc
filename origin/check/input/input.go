// Package input reads lists of addresses of any length, in constant memory.
//
// A [Reader] passes the bytes through these steps, each as soon as something
// arrives:
//
//   - compression: gzip is read, other formats and binary files are refused
//     (encoding.go);
//   - encoding: UTF-8 and UTF-16, with or without a byte order mark, and
//     Windows-1252 (there too). A line in another encoding than those before it is
//     bad;
//   - format: text, CSV or TSV, NDJSON or a JSON array, from the beginning of the
//     input (detect.go, columns.go);
//   - records: lines (text.go), rows (rows.go) or JSON values (objects.go).
//
// The format is decided as soon as a line has arrived, with all that has arrived by
// then, at most 64 KiB. Only a line with a separator, and with neither an address
// nor the name of a column of addresses, waits for a second line, since it may be a
// header.
//
// What a list may contain, beyond what the formats say:
//
//   - LF, CRLF and CR end a line or a row. A blank line is a record without an
//     address, but for those before the header of CSV and between values of JSON.
//   - A row whose cell for the address is blank is a record without an address, and
//     so is an object whose value for it is blank or null.
//   - In a cell, line ends remain as they came. White space around a cell belongs to
//     the cell and not to its address; in text it belongs to the address.
//   - Rows are as wide as the header, or as the widest row that was looked at.
//     Shorter ones get empty cells, and empty cells beyond are dropped. A row with
//     more is bad: a separator in one of its cells may have moved the address.
//   - A quotation mark that is not closed makes one bad row. Reading goes on in the
//     next line.
//   - A JSON value is an object with the key, or a string that is the address. A key
//     in another case counts if none is equal, and the last of equal keys counts. A
//     whole input may be one array, or objects that span lines, as jq writes them.
//   - A bad line, row or value is a record with an error. A damaged compression, an
//     array that is not closed and an error of the input itself end the reading,
//     after all records before.
//
// JSON is parsed by github.com/go-json-experiment/json/jsontext, which refuses what
// encoding/json replaces silently: bytes that are not UTF-8 and lone surrogates. It
// is the module of the standard library's next JSON package. The reasons for our
// own CSV reader are in rows.go.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

const (
	// maxLine is the longest line of text and the longest JSON value in bytes: an
	// address of 1 MiB, the module's limit, with every character escaped.
	maxLine = 8 << 20
	// maxRow is the longest row of CSV in bytes, and how far an open quotation mark
	// reaches. The dashboard has the same limit.
	maxRow = 1 << 20
	// maxCells is the most cells of a row.
	maxCells = 1000

	// maxRead is how many bytes of records one Read returns at most, apart from its
	// last record.
	maxRead = 1 << 20
)

// The formats.
const (
	Auto   = "auto"
	Text   = "text"
	CSV    = "csv"
	TSV    = "tsv"
	NDJSON = "ndjson"
)

// Options say how to read an input. The zero value recognises everything.
type Options struct {
	Format   string // one of the constants; "" is Auto
	Encoding string // a label of the WHATWG Encoding Standard; "" is Auto
	Column   string // of CSV: a name, or a number from 1; of NDJSON: a key; "" to find it
	Header   Header // whether CSV has one
	Sheet    string // of a workbook, by name or number; "" is the first

	// File is the input, if it is a regular file that can be read twice, else nil.
	File    *os.File
	Name    string // of the file, whose extension breaks a tie; "" if unknown
	Several bool   // whether there are several files: records get the name
}

// Header is what is known of the first row of CSV.
type Header uint8

// Whether the first row has names.
const (
	HeaderAuto Header = iota
	HeaderYes
	HeaderNo
)

// A Reader reads the records of one input.
type Reader struct {
	options Options
	window  window
	layout  layout
	records parser // nil until the format is known
	count   int64
	err     error     // of begin, for every Read
	book    io.Closer // nil if the input is no workbook

	encoding atomic.Pointer[Encoding]
}

// An Encoding is how bytes were read as text.
type Encoding struct {
	Name    string // of the WHATWG Encoding Standard, or xlsx
	Why     string // such as "line 3 is not UTF-8"
	Guessed bool   // it may be another one
	Mark    bool   // a byte order mark begins it, or it is no UTF-8: so may an output for the same programs
}

// A parser takes records from the window.
type parser interface {
	// next returns the next record. The error is errMore if the window holds no
	// whole one. At the end of the input the rest is a record.
	next(*window) (pipeline.Record, error)
	// line is the number of the line that was reached.
	line() int64
}

// errMore asks for more input.
var errMore = errors.New("input: more input is needed")

// New returns a reader of in. It reads nothing yet.
func New(in io.Reader, options Options) *Reader {
	return &Reader{options: options, window: window{in: in}}
}

// Read reads records until the next one would wait for input. What it says about
// the format is known when it returns for the first time, also with an error.
func (r *Reader) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	if r.records == nil && r.err == nil {
		r.err = r.begin()
	}
	if r.err != nil {
		return dst, r.err
	}
	before, size := len(dst), 0
	for len(dst) == before || len(dst) < cap(dst) && size < maxRead {
		record, err := r.next(len(dst) == before)
		if err == errMore {
			return dst, nil
		}
		if err != nil {
			return dst, r.located(err)
		}
		size += sizeOf(&record)
		dst = append(dst, record)
	}
	return dst, nil
}

// next returns the next record, and waits for it if it may.
func (r *Reader) next(wait bool) (pipeline.Record, error) {
	for {
		record, err := r.records.next(&r.window)
		switch {
		case err == nil:
			r.count++
			if r.options.Several {
				record.File = r.options.Name
			}
			return record, nil
		case err != errMore:
			return record, err
		case r.window.err != nil:
			return record, r.window.err
		case !wait:
			return record, errMore
		}
		r.window.more()
	}
}

// located adds to an error where the input could not be read any further.
func (r *Reader) located(err error) error {
	if err == io.EOF || r.count == 0 {
		return err
	}
	return fmt.Errorf("after record %d, in line %d: %w", r.count, r.records.line(), err)
}

func sizeOf(r *pipeline.Record) int {
	size := len(r.Email) + len(r.Object)
	for _, cell := range r.Cells {
		size += len(cell)
	}
	return size
}

// Encoding is the encoding as far as the input was read. It may be called while
// another goroutine reads.
func (r *Reader) Encoding() Encoding {
	if known := r.encoding.Load(); known != nil {
		return *known
	}
	return Encoding{}
}

// Format is the format that was recognised or chosen: Text, CSV, TSV or NDJSON.
func (r *Reader) Format() string { return r.layout.format }

// Comma is the separator of CSV, else 0.
func (r *Reader) Comma() byte { return r.layout.comma }

// Header returns the names of the columns of CSV, or nil if it has none.
func (r *Reader) Header() []string { return r.layout.names }

// Preamble returns the rows of CSV before its header, which are no records.
func (r *Reader) Preamble() [][]string { return r.layout.preamble }

// Close frees what a workbook needs. It does not close the input.
func (r *Reader) Close() error {
	if r.book == nil {
		return nil
	}
	return r.book.Close()
}

// Column is the index of the column of CSV that has the addresses, else -1.
func (r *Reader) Column() int {
	if r.layout.comma == 0 {
		return -1
	}
	return r.layout.column
}

// Width is the number of cells that every row of CSV has, else 0.
func (r *Reader) Width() int { return r.layout.width }

// bufferSize is the size of every buffer in bytes, and how much of an input is
// looked at to recognise it.
const bufferSize = 64 << 10

// A window is the part of the input that has arrived and is not used yet. It grows
// with the longest record, which its user limits.
type window struct {
	in    io.Reader
	buf   []byte // the bytes that have arrived
	start int    // of the unused ones
	err   error  // of in, after these bytes
}

// rest returns the unused bytes. They are valid until the next call of more.
func (w *window) rest() []byte { return w.buf[w.start:] }

// use drops the first n unused bytes.
func (w *window) use(n int) { w.start += n }

// ended reports whether the unused bytes are the last ones of an input that could
// be read whole.
func (w *window) ended() bool { return w.err == io.EOF }

// more reads at least one byte, unless err is set.
func (w *window) more() {
	if w.start > 0 {
		w.buf = append(w.buf[:0], w.rest()...)
		w.start = 0
	}
	if len(w.buf) == cap(w.buf) {
		w.buf = append(make([]byte, 0, max(bufferSize, 2*cap(w.buf))), w.buf...)
	}
	for range 100 {
		n, err := w.in.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf, w.err = w.buf[:len(w.buf)+n], err
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// arguments are addresses that are in memory.
type arguments struct{ rest []string }

// FromArguments returns an input of the given addresses.
func FromArguments(emails []string) pipeline.Input { return &arguments{emails} }

// Read appends the next addresses to dst.
func (a *arguments) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	n := min(max(1, cap(dst)-len(dst)), len(a.rest))
	for _, email := range a.rest[:n] {
		dst = append(dst, pipeline.Record{Email: email})
	}
	a.rest = a.rest[n:]
	if len(a.rest) == 0 {
		return dst, io.EOF
	}
	return dst, nil
}
