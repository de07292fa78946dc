package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/wasm/host"
)

const (
	// maxLine is the longest input line, in octets: an address of the module's
	// own limit, 1 MiB, with every character escaped.
	maxLine = 8 << 20
	// maxRound is how many addresses are checked side by side before their
	// answers are written.
	maxRound = 4096
)

// readers read an address out of a line.
var readers = map[string]func(line []byte) (string, error){
	"text":   func(line []byte) (string, error) { return string(line), nil },
	"ndjson": readObject,
}

func readObject(line []byte) (string, error) {
	var object struct{ Email *string }
	if err := json.Unmarshal(line, &object); err != nil || object.Email == nil {
		return "", errors.New(`not a JSON object with a string under the key "email"`)
	}
	return *object.Email, nil
}

// sweep checks a stream of addresses on all processors and keeps their order.
type sweep struct {
	view  *host.View
	flags host.Flags
	read  func(line []byte) (string, error)
}

// run works in rounds: as many lines as have arrived, up to maxRound, are
// checked side by side and written in order, so a slow pipe gets its answers
// as soon as a fast file does.
func (s *sweep) run(ctx context.Context, in io.Reader, out *bufio.Writer) error {
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10)}
	for ctx.Err() == nil {
		emails, readErr := s.round(lines)
		if err := s.answer(ctx, emails, out); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
	return ctx.Err()
}

// round reads addresses until the input pauses.
func (s *sweep) round(lines *lineReader) (emails []string, err error) {
	for len(emails) < maxRound {
		line, err := lines.next()
		if err != nil {
			return emails, err
		}
		email, err := s.read(line)
		if err != nil {
			return emails, fmt.Errorf("line %d: %w", lines.number, err)
		}
		emails = append(emails, email)
		if lines.in.Buffered() == 0 {
			break
		}
	}
	return emails, nil
}

// answer checks emails side by side and writes the answers in order.
func (s *sweep) answer(ctx context.Context, emails []string, out io.Writer) error {
	answers := make([][]byte, len(emails))
	workers, ctx := errgroup.WithContext(ctx)
	share := (len(emails) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for start := 0; start < len(emails); start += share {
		end := min(start+share, len(emails))
		workers.Go(func() error { return s.check(ctx, emails[start:end], answers[start:end]) })
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for _, answer := range answers {
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) check(ctx context.Context, emails []string, answers [][]byte) error {
	for n, email := range emails {
		answer, err := s.view.Check(ctx, nil, email, s.flags)
		if err != nil {
			return err
		}
		answers[n] = answer.JSON
	}
	return nil
}
