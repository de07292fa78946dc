package check

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

// mostInFlight is the most bytes of records in memory, besides one chunk. Results
// and their encoding need about three times as much.
const mostInFlight = 32 << 20

// A Run checks the records of an input and writes them in input order.
type Run struct {
	Input   Input
	Checker Checker
	Format  Format
	Output  io.Writer
	Workers int  // chunks that are checked at a time, at least 1
	Strict  bool // end at the first record that cannot be read

	// Bad, if not nil, is called with every record that could not be read, in order.
	Bad func(*Record)
	// Written, if not nil, is called after records were written and flushed, with
	// the counts of all records written so far.
	Written func(Counts)
}

// A Checker finds out about addresses. It is safe for concurrent use.
type Checker interface {
	// Check sets the outcome of every record without an Err. It may use the capacity
	// of the JSON that it finds there, which was that of an earlier outcome. An error
	// ends the run; one that concerns a single address is part of its outcome.
	Check(ctx context.Context, records []Record, outcomes []Outcome) error
}

// A pipeline is what the goroutines of a run share.
type pipeline struct {
	*Run
	work  chan *chunk // to the workers
	order chan *chunk // to the writer, in input order
	spare chan *chunk // back to the reader
	room  *semaphore.Weighted

	readErr error // set before order is closed
}

// Do runs until the input ends, an error occurs or ctx ends. It returns the counts
// of what was written, also with an error. A Read that waits for input when ctx
// ends is abandoned: no system call can be cancelled.
func (r *Run) Do(ctx context.Context) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &pipeline{Run: r, work: make(chan *chunk), order: make(chan *chunk, 2*r.Workers),
		spare: make(chan *chunk, 4*r.Workers), room: semaphore.NewWeighted(mostInFlight)}
	go p.read(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range r.Workers {
		workers.Go(func() { p.check(ctx) })
	}
	w := newWriter(p)
	err := w.write(ctx)
	return w.flushed, err
}

// check finishes chunks until there are no more.
func (p *pipeline) check(ctx context.Context) {
	for {
		select {
		case c, more := <-p.work:
			if !more {
				return
			}
			c.finish(ctx, p.Run)
		case <-ctx.Done():
			return
		}
	}
}

// read reads chunks and gives each to the writer, for its place, and to a worker.
func (p *pipeline) read(ctx context.Context) {
	defer close(p.work)
	defer close(p.order)
	for first := true; ; first = false {
		c := p.take()
		c.records, p.readErr = p.Input.Read(c.records)
		if first && p.readErr != nil && len(c.records) == 0 && !errors.Is(p.readErr, io.EOF) {
			return
		}
		if first && !p.head(ctx) {
			return
		}
		if len(c.records) > 0 && !p.pass(ctx, c.measured()) {
			return
		}
		if errors.Is(p.readErr, io.EOF) {
			p.readErr = nil
			return
		}
		if p.readErr != nil {
			return
		}
	}
}

// take returns an empty chunk.
func (p *pipeline) take() *chunk {
	select {
	case c := <-p.spare:
		return c.empty()
	default:
		return (&chunk{records: make([]Record, 0, chunkRecords), outcomes: make([]Outcome, chunkRecords)}).empty()
	}
}

// head gives the writer what precedes the records.
func (p *pipeline) head(ctx context.Context) bool {
	c := p.take()
	c.encoded, c.err = p.Format.Head(c.encoded)
	close(c.done)
	return send(ctx, p.order, c)
}

// pass waits until there is room for c, and passes it on.
func (p *pipeline) pass(ctx context.Context, c *chunk) bool {
	c.size = min(c.size, mostInFlight)
	return p.room.Acquire(ctx, c.size) == nil && send(ctx, p.order, c) && send(ctx, p.work, c)
}

func send(ctx context.Context, to chan<- *chunk, c *chunk) bool {
	select {
	case to <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// release returns the memory of c.
func (p *pipeline) release(c *chunk) {
	p.room.Release(c.size)
	select {
	case p.spare <- c:
	default:
	}
}

// refuse returns the error that ends a strict run at a record that cannot be read.
func (r *Run) refuse(record *Record) error {
	if !r.Strict || record.Err == nil {
		return nil
	}
	return &BadRecord{Record: *record}
}
