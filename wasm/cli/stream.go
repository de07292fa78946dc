package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// maxAddress is the longest address taken, in octets, as in the module.
const maxAddress = 1 << 20

// stream answers addresses one after the other.
type stream struct {
	options
	checker *core.Checker
	out     *bufio.Writer
	line    []byte // of JSON, used again for each answer
}

// run answers the addresses in args or, where there are none, those in.
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
		s.answer([]byte(address))
	}
	return s.out.Flush()
}

// read answers what comes in. Before it may have to wait for more, it hands
// out the answers it has.
func (s *stream) read(in io.Reader) error {
	buffered := bufio.NewReaderSize(in, maxAddress+2) // an address and the end of its line
	for number := 1; ; number++ {
		if !s.holdsOne(buffered) {
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
		line, err := buffered.ReadSlice(s.end)
		if address := s.trim(line); len(address) > maxAddress {
			return errors.New("address " + strconv.Itoa(number) + " is longer than 1 MiB")
		} else if len(address) > 0 {
			s.answer(address)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// holdsOne reports whether the next address has come whole.
func (s *stream) holdsOne(in *bufio.Reader) bool {
	held, _ := in.Peek(in.Buffered())
	return bytes.IndexByte(held, s.end) >= 0
}

// trim cuts off the end of an address; a line may also end with CR LF.
func (s *stream) trim(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{s.end})
	if s.end == '\n' {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return line
}

// answer writes the answer; an error of the output shows when it is flushed.
func (s *stream) answer(address []byte) {
	facts := s.checker.Check(address)
	s.line, _ = core.AppendJSON(s.line[:0], &facts, s.fullSuggestion)
	s.out.Write(append(s.line, '\n'))
}
