package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/input/charset"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/service"
)

// inputFlags say how to read the addresses.
type inputFlags struct {
	From     string `group:"Input:" enum:"auto,text,csv,tsv,ndjson" default:"auto" help:"Input format: text (an address a line), csv, tsv, ndjson (an object a line) or auto, which looks at the content. gzip is read in each."`
	Encoding string `group:"Input:" placeholder:"LABEL" default:"auto" help:"Encoding of the input: a label of the WHATWG Encoding Standard such as windows-1250, iso-8859-2, koi8-r, macintosh or shift_jis, or auto: that of a byte order mark, else UTF-8, UTF-16, Windows-1251, Windows-1252, Shift_JIS, GB18030, Big5 or EUC-KR if all words fit it alone. The summary has which was read and why."`
	Sheet    string `group:"Input:" placeholder:"NAME|N" help:"The sheet of an Excel workbook (.xlsx), by name or number from 1 (default: the first that has something)."`
	Column   string `group:"Input:" placeholder:"NAME|N" help:"The column of CSV that has the addresses, by name or number from 1, or the key of NDJSON's objects (default: a column of that kind of name or content; email)."`
	Header   string `group:"Input:" enum:"auto,yes,no" default:"auto" help:"Whether the first row of CSV has the names of the columns: auto, yes or no."`
}

// validate returns an error for an encoding that does not exist.
func (f *inputFlags) validate() error {
	if f.Encoding == input.Auto {
		return nil
	}
	_, err := charset.Name(f.Encoding)
	if err != nil {
		return fmt.Errorf("--encoding: %w", err)
	}
	return nil
}

// headers are the values of --header.
var headers = map[string]input.Header{"auto": input.HeaderAuto, "yes": input.HeaderYes, "no": input.HeaderNo}

// stdinName is how messages name standard input.
const stdinName = "standard input"

// A target is an argument: an address, or a file to read.
type target struct {
	address string
	path    string // "-" for standard input
	size    int64  // of the file in bytes, 0 if it is not known
}

// openInput finds out what the arguments are. Files are opened one after another.
func (f *inputFlags) openInput(args []string, std Streams) (*checkInput, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	in := &checkInput{flags: *f, stdin: std.In}
	for _, arg := range args {
		t, err := targetOf(arg)
		if err != nil {
			return nil, err
		}
		in.targets = append(in.targets, t)
	}
	in.stdinUsed = slices.ContainsFunc(in.targets, func(t target) bool { return t.path == "-" })
	in.typed = in.stdinUsed && output.IsTerminal(std.In)
	if in.typed {
		fmt.Fprintln(std.Err, "Type an address a line. Ctrl-D ends, and 'addrspec check --help' shows other ways.")
	}
	return in, nil
}

// targetOf returns what an argument names. A file comes first: its name may have
// an @, and an address that is also the name of a file is rare.
func targetOf(arg string) (target, error) {
	if arg == "-" {
		return target{path: "-"}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return target{}, fmt.Errorf("%s is a directory; give the files in it", arg)
	case err == nil && info.Mode().IsRegular():
		return target{path: arg, size: info.Size()}, nil
	case err == nil:
		return target{path: arg}, nil
	case strings.Contains(arg, "@"):
		return target{address: arg}, nil
	case errors.Is(err, fs.ErrNotExist):
		return target{}, service.UsageError{Err: fmt.Errorf("there is no file %q, and an address has an @; to check it all the same, pipe it: printf '%%s\\n' ADDRESS | addrspec check", arg)}
	}
	return target{}, fmt.Errorf("cannot read the addresses: %w", err)
}

// A checkInput reads the targets one after another.
type checkInput struct {
	flags   inputFlags
	targets []target
	stdin   io.Reader
	wrap    func(io.Reader) io.Reader // counts the bytes that are read; may be nil
	apart   bool                      // files may have different columns

	stdinUsed bool // standard input is one of the targets
	typed     bool // and a terminal

	readings readings

	current pipeline.Input // nil before the first target and between two
	closers []io.Closer    // of the current target
	name    string         // of the current target
	first   output.Layout  // of the first target; nil before its first record
	marked  bool           // an output for the programs that made the first target begins with a byte order mark
	named   string         // the first target's name
	compare bool           // the current target's columns are yet to be compared with the first's
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

// count returns how many addresses there are, or -1 if files have to be read to
// know.
func (in *checkInput) count() int64 {
	if !in.onlyAddresses() {
		return -1
	}
	return int64(len(in.targets))
}

// onlyAddresses reports whether no file is read.
func (in *checkInput) onlyAddresses() bool {
	return !slices.ContainsFunc(in.targets, func(t target) bool { return t.path != "" })
}

// Read reads the records of the current target and opens the next one at its end.
func (in *checkInput) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	for {
		if in.current == nil {
			if len(in.targets) == 0 {
				return dst, io.EOF
			}
			if err := in.next(); err != nil {
				return dst, err
			}
		}
		records, err := in.current.Read(dst)
		if sameErr := in.sameColumns(); sameErr != nil {
			return dst, sameErr
		}
		if err == nil {
			return records, nil
		}
		if err != io.EOF {
			return records, fmt.Errorf("%s: %w", in.name, err)
		}
		in.closeFile()
		if len(records) > len(dst) {
			return records, nil
		}
	}
}

// next opens the next target. Addresses in a row are one input.
func (in *checkInput) next() error {
	several := in.first != nil || len(in.targets) > 1
	in.compare = true
	if t := in.targets[0]; t.path != "" {
		in.targets = in.targets[1:]
		return in.open(t, several)
	}
	var emails []string
	for len(in.targets) > 0 && in.targets[0].path == "" {
		emails = append(emails, in.targets[0].address)
		in.targets = in.targets[1:]
	}
	in.current, in.name = input.FromArguments(emails), "the addresses in the command line"
	return nil
}

// open opens a file or standard input.
func (in *checkInput) open(t target, several bool) error {
	source := in.stdin
	in.name = stdinName
	options := input.Options{Format: in.flags.From, Encoding: in.flags.Encoding, Column: in.flags.Column,
		Header: headers[in.flags.Header], Sheet: in.flags.Sheet, Several: several}
	if t.path != "-" {
		file, err := os.Open(t.path)
		if err != nil {
			return fmt.Errorf("cannot read the addresses: %w", err)
		}
		in.closers = append(in.closers, file)
		in.name, source = t.path, file
	}
	if file, ok := source.(*os.File); ok {
		info, err := file.Stat()
		if err == nil && info.Mode().IsRegular() {
			options.File = file
		}
	}
	if in.wrap != nil {
		source = in.wrap(source)
	}
	options.Name = in.name
	reader := input.New(source, options)
	in.current, in.closers = reader, append(in.closers, reader)
	in.readings.add(in.name, reader)
	return nil
}

// readings are how inputs were read. The summary may need them while one is still
// waited for.
type readings struct {
	mu    sync.Mutex
	names []string
	read  []*input.Reader
}

// maxReadings is the most inputs whose encoding is reported.
const maxReadings = 20

func (r *readings) add(name string, reader *input.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.names) < maxReadings {
		r.names, r.read = append(r.names, name), append(r.read, reader)
	}
}

// list returns the encodings of the inputs that were begun.
func (r *readings) list() (list []output.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, reader := range r.read {
		if e := reader.Encoding(); e.Name != "" {
			list = append(list, output.Reading{Name: r.names[n], Encoding: e.Name, Why: e.Why, Guessed: e.Guessed})
		}
	}
	return list
}

// sameColumns returns an error if the current target does not have the columns of
// the first one: their cells could not be below one header.
func (in *checkInput) sameColumns() error {
	if !in.compare {
		return nil
	}
	in.compare = false
	layout, isFile := in.current.(output.Layout)
	if !isFile {
		layout = noColumns{}
	}
	if in.first == nil {
		in.first, in.named = layout, in.name
		reader, isReader := in.current.(*input.Reader)
		in.marked = isReader && reader.Encoding().Mark
		return nil
	}
	a, b := in.first, layout
	if in.apart || (a.Comma() == 0) == (b.Comma() == 0) && a.Width() == b.Width() && slices.Equal(a.Header(), b.Header()) {
		return nil
	}
	return service.UsageError{Err: fmt.Errorf("%s: not the columns of %s, so they cannot be in one output; check them in a run of their own", in.name, in.named)}
}

// noColumns is the layout of addresses in the command line.
type noColumns struct{}

func (noColumns) Comma() byte          { return 0 }
func (noColumns) Header() []string     { return nil }
func (noColumns) Width() int           { return 0 }
func (noColumns) Preamble() [][]string { return nil }

func (in *checkInput) closeFile() {
	for _, closer := range slices.Backward(in.closers) {
		_ = closer.Close() // it was read to its end
	}
	in.current, in.closers = nil, nil
}
