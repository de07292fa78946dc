package check

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
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
	count, dropped int64           // the records to leave out, and those so far
	last           pipeline.Record // of these
}

// Read drops records until enough are dropped.
func (s *skipping) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	for s.dropped < s.count {
		records, err := s.Input.Read(dst[:0])
		n := min(s.count-s.dropped, int64(len(records)))
		s.dropped += n
		if n > 0 {
			s.last = records[n-1]
		}
		if missing := s.count - s.dropped; err == io.EOF && missing > 0 {
			return dst, service.UsageError{Err: fmt.Errorf("--resume is %s beyond the end of the input: is it the "+
				"input of the first run?", words.Count(missing, "record"))}
		}
		if rest := records[n:]; len(rest) > 0 || err != nil {
			return append(dst[:0], rest...), err
		}
	}
	return s.Input.Read(dst)
}

// resumable returns an error if the file is not what a run wrote that did what this one does: the same
// head, as many records as --resume leaves out, and the last of these at its end. Else records
// would be in it twice, or under a foreign header.
func (o *checkOutput) resumable(format string, comma rune, head []byte) error {
	fail := func(format string, args ...any) error {
		return service.UsageError{Err: fmt.Errorf("--output %s "+format, append([]any{o.file.Name()}, args...)...)}
	}
	if format == "table" {
		return fail("has a table, to which --resume cannot add; remove it and begin anew with --to csv or ndjson")
	}
	in := bufio.NewReaderSize(io.NewSectionReader(o.file, 0, o.size), 1<<16)
	begins := make([]byte, len(head))
	_, err := io.ReadFull(in, begins)
	if err != nil || !bytes.Equal(begins, head) {
		return fail("does not begin as a run with this input and these flags does, so --resume cannot add to it; " +
			"give the flags of the first run, or another file")
	}
	records, last, err := countRecords(in, format, comma)
	end := make([]byte, 1)
	_, _ = o.file.ReadAt(end, o.size-1) // no byte of an empty file
	switch {
	case err != io.EOF:
		return fail("cannot be read: %w; remove what follows its last whole record, and run again", err)
	case records > 0 && string(end) != "\n":
		return fail("ends within a record: remove what follows its last whole record, and run again")
	case records != o.skipped.count:
		return fail("has %s, so go on with --resume %d, or remove it", words.Count(records, "record"), records)
	case !isRecord(last, format, &o.skipped.last, o.flags.CSVSafe):
		return fail("does not end with record %d of this input, so --resume cannot add to it; "+
			"is it the input of the first run?", records)
	}
	return nil
}

// countRecords reads to the end of a file, or to an error, and returns how many rows of CSV or lines
// of NDJSON there are, and the last one.
func countRecords(in *bufio.Reader, format string, comma rune) (count int64, last []string, err error) {
	read := func() ([]string, error) {
		line, err := in.ReadString('\n')
		return []string{line}, err
	}
	if format == "csv" {
		rows := csv.NewReader(in)
		rows.Comma, rows.FieldsPerRecord = comma, -1
		read = rows.Read
	}
	for {
		found, err := read()
		if err != nil {
			return count, last, err
		}
		count, last = count+1, found
	}
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
	if r.Err != nil {
		return err == nil && object.Email == nil
	}
	return err == nil && object.Email != nil && *object.Email == strings.ToValidUTF8(r.Email, "\uFFFD")
}
