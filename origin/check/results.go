package check

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

type outputFlags struct {
	To      string `group:"Output:" enum:"auto,table,csv,ndjson" default:"auto" help:"Output format: table (for people), csv (the columns of the input first), ndjson (an object of 16 fields a line) or auto: by the name of --output, else a table on a terminal, else csv for CSV and ndjson for the rest."`
	Output  string `group:"Output:" short:"o" placeholder:"FILE" help:"Write to this file, which must not exist, or with --resume append to it."`
	Details bool   `group:"Output:" help:"Say why: the evidence for each result, and the versions of engine, lists and model."`
	Keep    bool   `group:"Output:" help:"Add the input to each object of NDJSON, as the members line and input."`
	CSVSafe bool   `group:"Output:" name:"csv-safe" help:"Escape cells of CSV that a spreadsheet would evaluate as formulas. Otherwise cells are written as they came."`
	BOM     *bool  `group:"Output:" name:"bom" negatable:"" help:"Begin CSV with a byte order mark, by which Excel reads UTF-8 (default: if the input had one or was no UTF-8, and with --csv-safe)."`
	Color   string `group:"Output:" enum:"auto,always,never" default:"auto" help:"Colours in a table: auto (on a terminal, unless NO_COLOR is set), always or never."`
	Policy  string `group:"Output:" placeholder:"FILE|NAME" help:"Decide about each address by the policy in this file, a JSON document (/docs/policies of a service describes it): the member verdict at the end of each object, the columns verdict, verdict_reason and verdict_rule of CSV, the verdict of a table. With --server, a NAME without dot and slash is a policy of the account. Default: that of the key of --server, if it has one."`
	Summary string `group:"Output:" enum:"text,json,none" default:"text" help:"The summary on standard error: text, json or none."`
	Quiet   bool   `group:"Output:" short:"q" help:"Print neither summary nor progress."`
}

// A checkOutput encodes records in the format that was chosen or that of the input, and writes them.
type checkOutput struct {
	pipeline.Format // set by Head
	flags           *outputFlags
	in              *checkInput
	skipped         *skipping // of a resumed run, else nil

	io.Writer
	file     *os.File // of --output, or nil
	size     int64    // of the file up to the last flush: everything until then ends with a whole record
	terminal bool     // the records appear on a terminal as they are written
}

func (f *outputFlags) openOutput(in *checkInput, out io.Writer, resumed bool) (*checkOutput, error) {
	o := &checkOutput{flags: f, in: in, Writer: out}
	if f.Output == "" {
		o.terminal = output.IsTerminal(out)
	} else {
		flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if resumed {
			flags = os.O_RDWR | os.O_APPEND
		}
		file, err := os.OpenFile(f.Output, flags, 0o600) // only the owner may read addresses
		switch {
		case errors.Is(err, fs.ErrExist):
			return nil, service.UsageError{Err: fmt.Errorf("--output %s exists; remove it, give another name, "+
				"or add to it with --resume N", f.Output)}
		case errors.Is(err, fs.ErrNotExist) && resumed:
			return nil, service.UsageError{Err: fmt.Errorf("--output %s does not exist, so there is nothing to resume",
				f.Output)}
		case err != nil:
			return nil, fmt.Errorf("--output: %w", err)
		}
		o.file, o.Writer = file, file
		o.size, _ = file.Seek(0, io.SeekEnd) // it is a regular file
	}
	in.apart = f.format(o.terminal, true) != "csv" && !f.Keep
	return o, nil
}

func (f *outputFlags) format(terminal, csv bool) string {
	byName := formats[strings.ToLower(filepath.Ext(f.Output))]
	switch {
	case f.To != "auto":
		return f.To
	case byName != "":
		return byName
	case terminal:
		return "table"
	case csv:
		return "csv"
	}
	return "ndjson"
}

// formats are those of --output by the extension of the name.
var formats = map[string]string{".csv": "csv", ".tsv": "csv", ".json": "ndjson", ".jsonl": "ndjson", ".ndjson": "ndjson", ".txt": "table"}

// Head chooses the format, since the input's is known by now, and appends what precedes the records.
func (o *checkOutput) Head(dst []byte) ([]byte, error) {
	f, mark, layout := o.flags, o.flags.CSVSafe, pipeline.Layout{}
	if reader := o.in.first.reader; reader != nil {
		layout, mark = reader.Layout(), mark || reader.Reading().Mark
	}
	format := f.format(o.terminal, layout.Comma != 0)
	switch format {
	case "table":
		o.Format = &output.Table{Width: output.TerminalWidth(o.Writer), Details: f.Details,
			Color: o.file == nil && output.Colored(f.Color, o.Writer)}
	case "csv":
		if f.BOM != nil {
			mark = *f.BOM
		}
		o.Format = &output.CSV{Layout: layout, Details: f.Details, Policy: f.Policy != "", Safe: f.CSVSafe, BOM: mark}
	default:
		o.Format = &output.NDJSON{Keep: f.Keep, Layout: layout}
	}
	head, err := o.Format.Head(nil)
	switch {
	case err != nil:
		return dst, err
	case o.skipped == nil:
		return append(dst, head...), nil
	case o.file == nil: // the shell appends
		return dst, nil
	}
	return dst, o.resumable(format, rune(cmp.Or(layout.Comma, ',')), head)
}

// close closes the file after a number of records. What was written in part is cut off, so that a resumed run can
// add to it. A new file without a record is removed.
func (o *checkOutput) close(records int64, complete bool) error {
	switch {
	case o.file == nil:
		return nil
	case records == 0 && !complete && o.skipped == nil:
		return errors.Join(o.file.Close(), os.Remove(o.file.Name()))
	}
	return errors.Join(o.file.Truncate(o.size), o.file.Close())
}

// summarize prints what a run found. Addresses in the command line need no summary, but for lies. An encoding that
// may be another one is reported also where no summary is wanted.
func (o *checkOutput) summarize(to io.Writer, s *output.Summary) {
	switch {
	case o.flags.Quiet || o.flags.Summary == "none":
		for n := range s.Readings {
			if s.Readings[n].Guessed {
				output.WriteReading(to, &s.Readings[n])
			}
		}
	case o.flags.Summary == "json":
		s.WriteJSON(to)
	case o.in.count() >= 0:
		s.WriteLies(to)
	default:
		s.WriteText(to)
	}
}

type skipping struct {
	pipeline.Input
	count, dropped int64           // the records to leave out, and those so far
	last           pipeline.Record // of these
}

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

// resumable returns an error if the file is not what a run wrote that did what this one does: the same head, as
// many records as --resume leaves out, and at its end the address of the last of these. Else records would be in it
// twice, or under a foreign header.
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
	last, records := "", int64(-1)
	read := func() (string, error) { return in.ReadString('\n') }
	if format == "csv" {
		rows := csv.NewReader(in)
		rows.Comma, rows.FieldsPerRecord = comma, -1
		read = func() (string, error) {
			cells, err := rows.Read()
			return "\n" + strings.Join(cells, "\n") + "\n", err
		}
	}
	for next := last; err == nil; records++ {
		last = next
		next, err = read()
	}
	// A record that cannot be read has no address that could be compared.
	expected, email := "", o.skipped.last.Email
	switch {
	case o.skipped.last.Err != nil:
	case format != "csv":
		quoted, _ := jsontext.AppendQuote([]byte(`{"email":`), email) // its error is of what becomes U+FFFD
		expected = string(quoted)
	case o.flags.CSVSafe:
		expected = "\n" + output.Formula(email) + "\n"
	default:
		expected = "\n" + email + "\n"
	}
	end := make([]byte, 1)
	_, _ = o.file.ReadAt(end, o.size-1) // no byte of an empty file
	switch {
	case err != io.EOF:
		return fail("cannot be read: %w; remove what follows its last whole record, and run again", err)
	case records > 0 && string(end) != "\n":
		return fail("ends within a record: remove what follows its last whole record, and run again")
	case records != o.skipped.count:
		return fail("has %s, so go on with --resume %d, or remove it", words.Count(records, "record"), records)
	case !strings.Contains(last, expected):
		return fail("does not end with record %d of this input, so --resume cannot add to it; "+
			"is it the input of the first run?", records)
	}
	return nil
}
