// Command cli is addrspec-cli.wasm: the offline checks as a WASI command, for
// shells and for programs that start others instead of embedding an engine.
//
//	wasmtime addrspec-cli.wasm [-0] [-a] [-d] [ADDRESS…]
//
// It prints the result for each address as one line of JSON with the 16 fields.
// The addresses are its arguments or, without arguments, the lines of standard
// input. It skips empty lines.
//
//	-0   addresses in the input end with a zero byte instead of a newline
//	-a   typo_suggestion is the whole corrected address, not its domain
//	-d   one more member, details, says why (wasm/ABI.md)
//
// It prints each result before it waits for more input, so a program can talk to
// it through pipes. The exit status is 0 after the last result, 1 if reading or
// writing failed, and 2 for wrong usage.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

func main() {
	err := run(os.Args[1:], openInput(), openOutput())
	if err == nil {
		return
	}
	io.WriteString(openErrors(), "addrspec-cli: "+err.Error()+"\n")
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

// usageError is an error in the arguments.
type usageError string

func (e usageError) Error() string {
	return string(e) + "\nusage: addrspec-cli [-0] [-a] [-d] [ADDRESS…]"
}

// options are the parsed arguments.
type options struct {
	end            byte // terminates an address in the input
	fullSuggestion bool
	details        bool
	addresses      []string
}

func parse(args []string) (options, error) {
	o := options{end: '\n'}
	for n, arg := range args {
		switch {
		case arg == "-0":
			o.end = 0
		case arg == "-a":
			o.fullSuggestion = true
		case arg == "-d":
			o.details = true
		case arg == "--":
			o.addresses = args[n+1:]
			return o, nil
		case len(arg) > 0 && arg[0] == '-':
			return o, usageError("unknown flag " + arg)
		default:
			o.addresses = args[n:]
			return o, nil
		}
	}
	return o, nil
}

// maxAddress is the length of the longest accepted address, in bytes, as in the
// module.
const maxAddress = 1 << 20

// stream checks addresses and writes their results in input order.
type stream struct {
	options
	checker *core.Checker
	out     *bufio.Writer
	line    []byte // one result, reused for each address
}

// run checks the addresses in args or, without any, those in the input.
func run(args []string, in io.Reader, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	s := &stream{options: o, checker: core.New(lists.Default()), out: bufio.NewWriterSize(out, 64<<10)}
	if len(o.addresses) == 0 {
		return errors.Join(s.read(in), s.out.Flush())
	}
	for _, address := range o.addresses {
		s.check([]byte(address))
	}
	return s.out.Flush()
}

// read checks the addresses in the input. It flushes the output before each read
// that may block.
func (s *stream) read(in io.Reader) error {
	buffered := bufio.NewReaderSize(in, maxAddress+2) // an address and CR LF
	for number := 1; ; number++ {
		ahead, _ := buffered.Peek(buffered.Buffered())
		if bytes.IndexByte(ahead, s.end) < 0 { // the next read may block
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
		line, err := buffered.ReadSlice(s.end)
		address := bytes.TrimSuffix(line, []byte{s.end})
		if s.end == '\n' {
			address = bytes.TrimSuffix(address, []byte{'\r'})
		}
		if len(address) > maxAddress {
			return errors.New("address " + strconv.Itoa(number) + " is longer than 1 MiB")
		} else if len(address) > 0 {
			s.check(address)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// check writes the result for one address. Flush returns its write errors.
func (s *stream) check(address []byte) {
	facts := s.checker.Check(address)
	s.line, _ = core.AppendJSON(s.line[:0], &facts, s.fullSuggestion)
	if s.details {
		s.line = s.checker.AppendDetails(s.line, &facts)
	}
	s.out.Write(append(s.line, '\n'))
}
