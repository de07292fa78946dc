package check

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

// skipping is an input without its first records.
type skipping struct {
	pipeline.Input
	left int64
	last pipeline.Record // of those that are left out
}

// Read drops records until enough are dropped.
func (s *skipping) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	for s.left > 0 {
		records, err := s.Input.Read(dst[:0:cap(dst)])
		dropped := min(s.left, int64(len(records)))
		s.left -= dropped
		if dropped > 0 {
			s.last = records[dropped-1]
		}
		if err == io.EOF && s.left > 0 {
			return dst, service.UsageError{Err: fmt.Errorf("--resume is %s beyond the end of the input: is it the "+
				"input of the first run?", words.Count(s.left, "record"))}
		}
		if rest := records[dropped:]; len(rest) > 0 || err != nil {
			return append(dst[:0], rest...), err
		}
	}
	return s.Input.Read(dst)
}

// resumable returns an error if a file is not what a run wrote that did what this one does: the same
// head, as many records as --resume leaves out, and the last of these at its end. Else records
// would be in it twice, or under a foreign header.
func resumable(file *os.File, format string, comma rune, head []byte, resume int64, last *pipeline.Record, safe bool) error {
	fail := func(format string, args ...any) error {
		return service.UsageError{Err: fmt.Errorf("--output %s "+format, append([]any{file.Name()}, args...)...)}
	}
	if format == "table" {
		return fail("has a table, to which --resume cannot add; remove it and begin anew with --to csv or ndjson")
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), 1<<16)
	begins := make([]byte, len(head))
	_, err := io.ReadFull(in, begins)
	if err != nil || !bytes.Equal(begins, head) {
		return fail("does not begin as a run with this input and these flags does, so --resume cannot add to it; " +
			"give the flags of the first run, or another file")
	}
	count := countLines
	if format == "csv" {
		count = countRows(comma)
	}
	records, end, err := count(in)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fail("ends within a record: remove what follows its %s, and give --resume %d", words.Count(records, "whole record"), records)
	case err != nil:
		return fail("cannot be read: %w", err)
	case records != resume:
		return fail("has %s, so go on with --resume %d, or remove it", words.Count(records, "record"), records)
	case resume > 0 && !isRecord(end, format, last, safe):
		return fail("does not end with record %d of this input, so --resume cannot add to it; is it the input of the first run?", resume)
	}
	return nil
}

// countLines counts lines of NDJSON, and returns the last one. The error is io.ErrUnexpectedEOF if
// that has no end.
func countLines(in *bufio.Reader) (count int64, last []string, err error) {
	for {
		line, err := in.ReadString('\n')
		switch {
		case err == io.EOF && line == "":
			return count, last, nil
		case err == io.EOF:
			return count, last, io.ErrUnexpectedEOF
		case err != nil:
			return count, last, err
		}
		count, last = count+1, []string{line}
	}
}

// countRows returns a function that does the same with rows of CSV.
func countRows(comma rune) func(in *bufio.Reader) (count int64, last []string, err error) {
	return func(in *bufio.Reader) (count int64, last []string, err error) {
		end := &lastByte{Reader: in, byte: '\n'}
		rows := csv.NewReader(end)
		rows.Comma, rows.FieldsPerRecord = comma, -1
		for {
			row, err := rows.Read()
			switch {
			case err == io.EOF && end.byte == '\n':
				return count, last, nil
			case err == io.EOF:
				return count - 1, last, io.ErrUnexpectedEOF
			case errors.Is(err, csv.ErrQuote):
				return count, last, io.ErrUnexpectedEOF
			case err != nil:
				return count, last, err
			}
			count, last = count+1, row
		}
	}
}

// A lastByte reader knows the last byte that was read.
type lastByte struct {
	io.Reader
	byte byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.byte = p[n-1]
	}
	return n, err
}

// isRecord reports whether the cells of a row, or a line of NDJSON, are of a record.
func isRecord(found []string, format string, r *pipeline.Record, safe bool) bool {
	if format == "csv" {
		cells := slices.Clone(r.Cells)
		if r.Cells == nil {
			cells = []string{r.Email}
		}
		for n, cell := range cells {
			if safe {
				cell = output.Formula(cell)
			}
			cells[n] = strings.ReplaceAll(cell, "\r\n", "\n") // as encoding/csv reads them
		}
		return len(found) >= len(cells) && (r.Err != nil || slices.Equal(found[:len(cells)], cells))
	}
	var object struct{ Email *string }
	err := json.Unmarshal([]byte(found[0]), &object)
	return err == nil && (object.Email == nil) == (r.Err != nil) && (r.Err != nil || *object.Email == strings.ToValidUTF8(r.Email, "\uFFFD"))
}
