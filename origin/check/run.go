package check

import (
	"bufio"
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"
)

const (
	// chunkRecords is the most records that one worker takes at a time.
	chunkRecords = 256
	// outputBuffer is the size of the buffer before the output, in bytes.
	outputBuffer = 64 << 10
)

// A Checker finds out about addresses. It is safe for concurrent use.
type Checker interface {
	// Check sets the outcome of every record without an Err. An error ends the run;
	// one that concerns a single address is part of its outcome.
	Check(ctx context.Context, records []Record, outcomes []Outcome) error
}

// A Run checks the records of an input and writes them in input order. At most
// twice Workers chunks of records are in memory.
type Run struct {
	Input   Input
	Checker Checker
	Format  Format
	Output  io.Writer
	Workers int // chunks that are checked at a time, at least 1

	// Written, if not nil, is called after records were written and flushed, with
	// the counts of all records written so far.
	Written func(Counts)
}

// A chunk is some records in a row.
type chunk struct {
	records  []Record
	outcomes []Outcome
	encoded  []byte
	done     chan struct{} // closed once encoded is complete
}

// Do runs until the input ends. It returns the counts of what was written, also
// with an error.
func (r *Run) Do(ctx context.Context) (counts Counts, err error) {
	group, ctx := errgroup.WithContext(ctx)
	work, order := make(chan *chunk), make(chan *chunk, r.Workers)
	group.Go(func() error {
		defer close(work)
		defer close(order)
		return r.read(ctx, work, order)
	})
	for range r.Workers {
		group.Go(func() error { return r.work(ctx, work) })
	}
	group.Go(func() error { return r.write(ctx, order, &counts) })
	err = group.Wait()
	return counts, err
}

// read reads chunks and gives each to the workers and, in order, to the writer.
func (r *Run) read(ctx context.Context, work, order chan<- *chunk) error {
	for {
		records, readErr := r.Input.Read(make([]Record, 0, chunkRecords))
		if len(records) > 0 {
			c := &chunk{records: records, outcomes: make([]Outcome, len(records)), done: make(chan struct{})}
			if !send(ctx, order, c) || !send(ctx, work, c) {
				return ctx.Err()
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

func send(ctx context.Context, to chan<- *chunk, c *chunk) bool {
	select {
	case to <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// work checks and encodes chunks.
func (r *Run) work(ctx context.Context, work <-chan *chunk) error {
	for c := range work {
		if err := r.Checker.Check(ctx, c.records, c.outcomes); err != nil {
			return err
		}
		for n := range c.records {
			var err error
			if c.encoded, err = r.Format.Append(c.encoded, &c.records[n], &c.outcomes[n]); err != nil {
				return err
			}
		}
		close(c.done)
	}
	return nil
}

// write writes the chunks in order. It flushes whenever it would wait.
func (r *Run) write(ctx context.Context, order <-chan *chunk, counts *Counts) error {
	out := bufio.NewWriterSize(r.Output, outputBuffer)
	for c := range order {
		select {
		case <-c.done:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), out.Flush())
		}
		if _, err := out.Write(c.encoded); err != nil {
			return err
		}
		if len(order) == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		for n := range c.records {
			counts.add(&c.records[n], &c.outcomes[n])
		}
		if r.Written != nil {
			r.Written(*counts)
		}
	}
	return out.Flush()
}
