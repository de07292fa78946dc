package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/service"
)

type inputFlags struct {
	From     string `group:"Input:" enum:"auto,text,csv,tsv,ndjson" default:"auto" help:"Input format: text (an address a line), csv, tsv, ndjson (an object a line) or auto, which looks at the content. gzip is read in each."`
	Encoding string `group:"Input:" placeholder:"LABEL" default:"auto" help:"Encoding of the input: a label of the WHATWG Encoding Standard such as windows-1250, iso-8859-2, koi8-r, macintosh or shift_jis, or auto: that of a byte order mark, else UTF-8, UTF-16, Windows-1252 or Windows-1251 if all words fit it alone. The summary has which was read and why."`
	Sheet    string `group:"Input:" placeholder:"NAME|N" help:"The sheet of an Excel workbook (.xlsx), by name or number from 1 (default: the first that has something)."`
	Column   string `group:"Input:" placeholder:"NAME|N" help:"The column of CSV that has the addresses, by name or number from 1, or the key of NDJSON's objects (default: a column of that kind of name or content; email)."`
	Header   string `group:"Input:" enum:"auto,yes,no" default:"auto" help:"Whether the first row of CSV has the names of the columns: auto, yes or no."`
}

// A target is a file to read, or addresses of the command line in a row.
type target struct {
	name      string // in messages
	path      string // "-" for standard input, "" for addresses
	addresses []string
	size      int64 // of the file in bytes, 0 if it is not known

	pipeline.Input               // once it is open
	reader         *input.Reader // the Input; nil for addresses
	closers        []io.Closer
	begun          bool
}

type checkInput struct {
	flags     inputFlags
	targets   []*target
	stdin     io.Reader
	stdinUsed bool   // standard input is one of the targets
	unpack    string // the directory for temporary files
	typed     bool   // and a terminal
	apart     bool   // files may have different columns

	rest    []*target // that are not at their end
	first   *target   // nil before its first record
	columns string    // of the first
	bytes   counter   // that were read, as they are stored
}

type counter struct{ atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

func (f *inputFlags) openInput(args []string, std Streams) (*checkInput, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	in := &checkInput{flags: *f, stdin: std.In, stdinUsed: slices.Contains(args, "-")}
	for _, arg := range args {
		t, err := targetOf(arg)
		if err != nil {
			return nil, err
		}
		last := len(in.targets) - 1
		if t.path == "" && last >= 0 && in.targets[last].path == "" {
			in.targets[last].addresses = append(in.targets[last].addresses, arg)
			continue
		}
		in.targets = append(in.targets, t)
	}
	in.typed = in.stdinUsed && output.IsTerminal(std.In)
	if in.typed {
		fmt.Fprintln(std.Err, "Type an address a line. Ctrl-D ends, and 'addrspec check --help' shows other ways.")
	}
	return in, nil
}

// targetOf returns what an argument names. A file comes first: its name may have an @.
func targetOf(arg string) (*target, error) {
	if arg == "-" {
		return &target{name: "standard input", path: arg}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory; give the files in it", arg)
	case err == nil && info.Mode().IsRegular():
		return &target{name: arg, path: arg, size: info.Size()}, nil
	case err == nil:
		return &target{name: arg, path: arg}, nil
	case strings.Contains(arg, "@"):
		return &target{name: "the addresses in the command line", addresses: []string{arg}}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, service.UsageError{Err: fmt.Errorf("there is no file %q, and an address has an @; "+
			"to check it all the same, pipe it: printf '%%s\\n' ADDRESS | addrspec check", arg)}
	}
	return nil, fmt.Errorf("cannot read the addresses: %w", err)
}

// size returns how many bytes the input has, or 0 if that is not known.
func (in *checkInput) size() (total int64) {
	for _, t := range in.targets {
		if t.path != "" && t.size == 0 {
			return 0
		}
		total += t.size
	}
	return total
}

// count returns how many addresses there are, or -1 if files have to be read to know.
func (in *checkInput) count() int {
	if len(in.targets) > 1 || in.targets[0].path != "" {
		return -1
	}
	return len(in.targets[0].addresses)
}

func (in *checkInput) open() error {
	in.rest = in.targets
	for _, t := range in.targets {
		if t.path == "" {
			t.Input = input.FromArguments(t.addresses)
			continue
		}
		options := input.Options{Format: in.flags.From, Encoding: in.flags.Encoding, Column: in.flags.Column,
			Header: in.flags.Header, Sheet: in.flags.Sheet, Name: t.name, Several: len(in.targets) > 1}
		from := in.stdin
		if t.path != "-" {
			file, err := os.Open(t.path)
			if err != nil {
				return fmt.Errorf("cannot read the addresses: %w", err)
			}
			from, t.closers = file, []io.Closer{file}
		}
		if file, ok := from.(*os.File); ok {
			info, err := file.Stat()
			if err == nil && info.Mode().IsRegular() {
				options.File, options.Unpack = file, in.unpack
			}
		}
		t.reader = input.New(io.TeeReader(from, &in.bytes), options)
		t.Input, t.closers = t.reader, append(t.closers, t.reader)
	}
	return nil
}

// Read reads the records of the current target, and at its end those of the next one.
func (in *checkInput) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	for len(in.rest) > 0 {
		t := in.rest[0]
		records, err := t.Read(dst)
		if !t.begun {
			t.begun = true
			if err := in.sameColumns(t); err != nil {
				return dst, err
			}
		}
		if err == nil {
			return records, nil
		}
		if err != io.EOF {
			return records, fmt.Errorf("%s: %w", t.name, err)
		}
		for _, closer := range slices.Backward(t.closers) {
			_ = closer.Close() // it was read to its end
		}
		in.rest = in.rest[1:]
		if len(records) > len(dst) {
			return records, nil
		}
	}
	return dst, io.EOF
}

// sameColumns returns an error if the cells of a target could not be below the header of the first one.
func (in *checkInput) sameColumns(t *target) error {
	columns := ""
	if t.reader != nil && t.reader.Layout().Comma != 0 {
		columns = fmt.Sprintf("%d %q", t.reader.Layout().Width, t.reader.Layout().Header)
	}
	if in.first == nil {
		in.first, in.columns = t, columns
		return nil
	}
	if in.apart || columns == in.columns {
		return nil
	}
	return service.UsageError{Err: fmt.Errorf("%s: not the columns of %s, so they cannot be in one output; "+
		"check them in a run of their own", t.name, in.first.name)}
}

// readings are the encodings of the inputs that were begun, of the first ones if there are many.
func (in *checkInput) readings() (list []pipeline.Reading) {
	const most = 20 // else the summary would be all about them
	for _, t := range in.targets[:min(len(in.targets), most)] {
		if t.reader != nil && t.reader.Reading().Encoding != "" {
			list = append(list, t.reader.Reading())
		}
	}
	return list
}
