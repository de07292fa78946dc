// Package input reads lists of addresses.
package input

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"github.com/addrspec/addrspec/origin/check"
)

// maxLine is the longest input line in bytes: an address of 1 MiB, the module's
// limit, with every character escaped.
const maxLine = 8 << 20

// A Reader reads records of text or NDJSON.
type Reader struct {
	lines lineReader
	parse func(line []byte) check.Record
}

// New returns a reader of in. format is text or ndjson.
func New(in io.Reader, format string) *Reader {
	parsers := map[string]func([]byte) check.Record{"text": parseText, "ndjson": parseObject}
	return &Reader{lines: lineReader{in: bufio.NewReaderSize(in, 64<<10)}, parse: parsers[format]}
}

// Read reads records until the next read would wait for input.
func (r *Reader) Read(dst []check.Record) ([]check.Record, error) {
	for len(dst) < cap(dst) {
		line, err := r.lines.next()
		if err != nil {
			return dst, err
		}
		record := r.parse(line)
		record.Line = int64(r.lines.number)
		dst = append(dst, record)
		if r.lines.in.Buffered() == 0 {
			break
		}
	}
	return dst, nil
}

func parseText(line []byte) check.Record { return check.Record{Email: string(line)} }

func parseObject(line []byte) check.Record {
	var object struct{ Email *string }
	if err := json.Unmarshal(line, &object); err != nil || object.Email == nil {
		return check.Record{Err: errors.New(`not a JSON object with a string under the key "email"`)}
	}
	return check.Record{Email: *object.Email, Object: append([]byte(nil), line...)}
}
