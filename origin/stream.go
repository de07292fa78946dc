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
	// maxLine is the longest input line in bytes: an address of 1 MiB, the
	// module's limit, with every character escaped.
	maxLine = 8 << 20
	// maxRound is the most addresses that are checked in parallel before their
	// results are written.
	maxRound = 4096
)

// parsers return the address in a line, by input format.
var parsers = map[string]func(line []byte) (string, error){
	"text":   func(line []byte) (string, error) { return string(line), nil },
	"ndjson": parseObject,
}

func parseObject(line []byte) (string, error) {
	var object struct{ Email *string }
	if err := json.Unmarshal(line, &object); err != nil || object.Email == nil {
		return "", errors.New(`not a JSON object with a string under the key "email"`)
	}
	return *object.Email, nil
}

// A stream checks addresses on all processors and writes the results in input
// order.
type stream struct {
	view  *host.View
	flags host.Flags
	parse func(line []byte) (string, error)
}

// run works in rounds. A round is the lines that have arrived, at most maxRound,
// so a slow pipe gets its results as promptly as a fast file.
func (s *stream) run(ctx context.Context, in io.Reader, out *bufio.Writer) error {
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10)}
	for ctx.Err() == nil {
		emails, readErr := s.round(lines)
		if err := s.write(ctx, emails, out); err != nil {
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

// round reads addresses until the next read would wait for input.
func (s *stream) round(lines *lineReader) (emails []string, err error) {
	for len(emails) < maxRound {
		line, err := lines.next()
		if err != nil {
			return emails, err
		}
		email, err := s.parse(line)
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

// write checks emails in parallel and writes the results in order.
func (s *stream) write(ctx context.Context, emails []string, out io.Writer) error {
	results := make([][]byte, len(emails))
	workers, ctx := errgroup.WithContext(ctx)
	share := (len(emails) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for start := 0; start < len(emails); start += share {
		end := min(start+share, len(emails))
		workers.Go(func() error { return s.check(ctx, emails[start:end], results[start:end]) })
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for _, result := range results {
		if _, err := out.Write(append(result, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) check(ctx context.Context, emails []string, results [][]byte) error {
	for n, email := range emails {
		facts, err := s.view.Check(ctx, nil, email, s.flags)
		if err != nil {
			return err
		}
		results[n] = facts.JSON
	}
	return nil
}
