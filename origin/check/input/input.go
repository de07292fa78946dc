// Package input reads lists of addresses of any length, in constant memory.
//
// A [Reader] passes the bytes through these steps, each as soon as something arrives: compression and encoding
// (encoding.go); the format, from the beginning of the input (detect.go, columns.go); records, which are lines,
// JSON values (records.go) or rows (rows.go). The format is decided as soon as a line has arrived, with all that
// has arrived by then, at most 64 KiB. Only what may be a header, or before one, waits for more lines.
//
// Beyond what the formats say:
//
//   - LF, CRLF and CR end a line or a row. A blank line is a record without an address, but for those before the
//     header of CSV and between values of JSON.
//   - In a cell, line ends remain as they came. White space around a cell belongs to the cell and not to its
//     address; in text it belongs to the address.
//   - Rows are as wide as the header, or as the widest row that was looked at. A row with more is bad: a separator
//     in one of its cells may have moved the address.
//   - A bad line, row or value is a record with an error, and reading goes on in the next line. A damaged
//     compression and an error of the input itself end the reading, after all records before.
package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

const (
	// maxLine is the longest line of text and JSON value in bytes: an address of 1 MiB, the module's limit, escaped.
	maxLine = 8 << 20
	// maxRow is the longest row of CSV in bytes, and how far an open quotation mark reaches, as in the dashboard.
	maxRow = 1 << 20
	// bufferSize is the size of every buffer in bytes, and how much of an input is looked at to recognise it.
	bufferSize = 64 << 10
)

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
	Header   string // whether CSV has one: yes, no, or else to find out
	Sheet    string // of a workbook, by name or number; "" is the first

	// File is the input, if it is a regular file that can be read twice, else nil.
	File    *os.File
	Unpack  string // the directory for the temporary files of a workbook; "" is the system's
	Name    string // of the file, whose extension breaks a tie; "" if unknown
	Several bool   // whether there are several files: records get the name
}

// A Reader reads the records of one input.
type Reader struct {
	options Options
	window  window
	layout  layout
	count   int64     // of the records that were read
	reached int64     // the line of the last one
	err     error     // of begin, for every Read
	book    io.Closer // nil if the input is no workbook

	// next takes a record from the window, and at the end of the input the rest. The error is errMore if there is
	// no whole one. next is nil until the format is known.
	next    func() (pipeline.Record, error)
	reading atomic.Pointer[pipeline.Reading]
}

var errMore = errors.New("input: more input is needed")

// New returns a reader of in. It reads nothing yet.
func New(in io.Reader, options Options) *Reader {
	options.Format = cmp.Or(options.Format, Auto)
	options.Encoding = cmp.Or(options.Encoding, Auto)
	return &Reader{options: options, window: window{in: in}}
}

// Read reads records until the next one would wait for input. The layout is known when it returns for the first
// time, also with an error.
func (r *Reader) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	if r.next == nil && r.err == nil {
		r.err = r.begin()
	}
	if r.err != nil {
		return dst, r.err
	}
	before := len(dst)
	for len(dst) == before || len(dst) < cap(dst) {
		record, err := r.next()
		if err == errMore && r.window.err == nil {
			if len(dst) > before {
				return dst, nil
			}
			r.window.more()
			continue
		}
		if err == errMore {
			err = r.window.err
		}
		if err == io.EOF || err != nil && r.count == 0 {
			return dst, err
		}
		if err != nil {
			return dst, fmt.Errorf("after record %d, in line %d: %w", r.count, r.reached, err)
		}
		r.count++
		r.reached = record.Line
		if r.options.Several {
			record.File = r.options.Name
		}
		dst = append(dst, record)
	}
	return dst, nil
}

// Reading says how the input was read so far. It may be called while another goroutine reads.
func (r *Reader) Reading() pipeline.Reading {
	reading := pipeline.Reading{}
	if known := r.reading.Load(); known != nil {
		reading = *known
	}
	reading.Name = r.options.Name
	return reading
}

// Layout returns what is known of the columns of CSV.
func (r *Reader) Layout() pipeline.Layout { return r.layout.Layout }

// Close frees what a workbook needs. It does not close the input.
func (r *Reader) Close() error {
	if r.book == nil {
		return nil
	}
	return r.book.Close()
}

// A window is the part of the input that has arrived and is not used yet. It grows with the longest record,
// which its user limits.
type window struct {
	in    io.Reader
	buf   []byte // the bytes that have arrived
	start int    // of the unused ones
	err   error  // of in, after these bytes
	lines int64  // that were used: LF, CRLF and CR end one
	cr    bool   // a CR was used last, so that an LF which follows is part of it
	long  bool   // the beginning of the present line was dropped
}

// rest returns the unused bytes. They are valid until the next call of more.
func (w *window) rest() []byte {
	if w.cr && w.start < len(w.buf) {
		w.cr = false
		if w.buf[w.start] == '\n' {
			w.start++
		}
	}
	return w.buf[w.start:]
}

func (w *window) use(n int) {
	used := w.rest()[:n]
	w.start += n
	w.lines += lineEnds(used)
	w.cr = bytes.HasSuffix(used, []byte("\r"))
}

func lineEnds(text []byte) int64 {
	count := func(end string) int { return bytes.Count(text, []byte(end)) }
	return int64(count("\n") + count("\r") - count("\r\n"))
}

// ended reports whether the unused bytes are the last ones of an input that could be read whole.
func (w *window) ended() bool { return w.err == io.EOF }

// more reads at least one byte, unless err is set.
func (w *window) more() {
	w.buf = append(w.buf[:0], w.rest()...)
	w.start = 0
	if len(w.buf) == cap(w.buf) {
		w.buf = slices.Grow(w.buf, bufferSize)
	}
	var n int
	n, w.err = io.ReadAtLeast(w.in, w.buf[len(w.buf):cap(w.buf)], 1)
	w.buf = w.buf[:len(w.buf)+n]
}

var errLong = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// line takes the next line, without its end. It is valid until the window reads on. A line that is too long is
// dropped as it comes.
func (w *window) line() ([]byte, error) {
	rest := w.rest()
	end := len(rest)
	for _, c := range []byte("\n\r") {
		found := bytes.IndexByte(rest[:end], c)
		if found >= 0 {
			end = found
		}
	}
	open := end == len(rest)
	w.long = w.long || end > maxLine
	switch {
	case open && w.long && !w.ended():
		w.use(end)
		return nil, errMore
	case open && !w.long && (!w.ended() || end == 0):
		return nil, errMore
	}
	w.use(min(end+1, len(rest)))
	if w.long {
		w.long = false
		return nil, errLong
	}
	return rest[:end], nil
}

type arguments []string

// FromArguments returns an input of the given addresses.
func FromArguments(emails []string) pipeline.Input { return (*arguments)(&emails) }

func (a *arguments) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	n := min(max(1, cap(dst)-len(dst)), len(*a))
	for _, email := range (*a)[:n] {
		dst = append(dst, pipeline.Record{Email: email})
	}
	*a = (*a)[n:]
	if len(*a) == 0 {
		return dst, io.EOF
	}
	return dst, nil
}
