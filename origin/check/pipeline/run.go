package pipeline

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"unsafe"

	"golang.org/x/sync/semaphore"
)

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

const (
	chunkRecords = 256      // the most records that a worker takes at a time
	keptJSON     = 4 << 10  // the largest result whose memory is kept for the next one; a usual one has 400 bytes
	mostInFlight = 32 << 20 // bytes of records, besides one chunk; results and their encoding need three times as much
	outputBuffer = 64 << 10 // bytes
)

// A chunk is some records in a row.
type chunk struct {
	records  []Record
	outcomes []Outcome
	size     int64 // of the records, in bytes

	encoded []byte
	ready   int           // records that are encoded, all of them unless err is set
	err     error         // ends the run once what is before it is written
	done    chan struct{} // receives when the worker is finished with it
}

func newChunk() any {
	return &chunk{records: make([]Record, 0, chunkRecords), outcomes: make([]Outcome, chunkRecords), done: make(chan struct{}, 1)}
}

// A flow is what the goroutines of a run share: a reader, the workers and a writer.
type flow struct {
	*Run
	work   chan *chunk // to the workers
	order  chan *chunk // to the writer, in input order
	failed error       // of Read or Head; set before order is closed
	spare  sync.Pool   // of chunks that were written
	room   *semaphore.Weighted

	out     *bufio.Writer
	written Counts // in the buffer or flushed
	flushed Counts
}

// Do runs until the input ends, an error occurs or ctx ends. It returns the counts
// of what was written, also with an error. A Read that waits for input when ctx
// ends is abandoned: no system call can be cancelled.
func (r *Run) Do(ctx context.Context) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &flow{Run: r, work: make(chan *chunk), order: make(chan *chunk, 2*r.Workers), spare: sync.Pool{New: newChunk},
		room: semaphore.NewWeighted(mostInFlight), out: bufio.NewWriterSize(r.Output, outputBuffer)}
	go f.read(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range r.Workers {
		workers.Go(func() { f.check(ctx) })
	}
	err := f.write(ctx)
	err = cmp.Or(err, f.flush(true))
	return f.flushed, err
}

// read reads chunks and gives each to a worker, and to the writer for its place.
func (f *flow) read(ctx context.Context) {
	defer close(f.order)
	for first := true; ; first = false {
		c := f.spare.Get().(*chunk)
		var err error
		c.records, err = f.Input.Read(c.records)
		if !errors.Is(err, io.EOF) {
			f.failed = err
		}
		if first && (len(c.records) > 0 || f.failed == nil) {
			head, wrong := newChunk().(*chunk), error(nil)
			head.encoded, wrong = f.Format.Head(nil)
			head.done <- struct{}{}
			f.failed = cmp.Or(wrong, f.failed)
			if !send(ctx, f.order, head) || wrong != nil {
				return
			}
		}
		if len(c.records) > 0 {
			for n := range c.records {
				r := &c.records[n]
				c.size += int64(unsafe.Sizeof(*r)) + int64(len(r.Email)+len(r.Object))
				for _, cell := range r.Cells {
					c.size += int64(len(cell)) + int64(unsafe.Sizeof(cell))
				}
			}
			c.size = min(c.size, mostInFlight)
			if f.room.Acquire(ctx, c.size) != nil || !send(ctx, f.work, c) || !send(ctx, f.order, c) {
				return
			}
		}
		if err != nil {
			return
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

// check checks and encodes chunks until the run ends.
func (f *flow) check(ctx context.Context) {
	for {
		var c *chunk
		select {
		case c = <-f.work:
		case <-ctx.Done():
			return
		}
		c.err = f.Checker.Check(ctx, c.records, c.outcomes[:len(c.records)])
		for c.err == nil && c.ready < len(c.records) {
			record := &c.records[c.ready]
			if f.Strict && record.bad() {
				c.err = &BadRecord{Record: *record}
				break
			}
			c.encoded, c.err = f.Format.Append(c.encoded, record, &c.outcomes[c.ready])
			if c.err == nil {
				c.ready++
			}
		}
		c.done <- struct{}{}
	}
}

// write writes and counts chunks until there are no more. Before it waits, it flushes. A
// chunk is flushed as a whole: after an error flushed is exactly what was written before.
func (f *flow) write(ctx context.Context) error {
	for {
		if err := f.flush(len(f.order) == 0); err != nil {
			return err
		}
		var c *chunk
		select {
		case c = <-f.order:
		case <-ctx.Done():
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c == nil:
			return f.failed
		}
		if err := f.flush(len(c.done) == 0); err != nil {
			return err
		}
		<-c.done
		if err := f.flush(len(c.encoded) > f.out.Available()); err != nil {
			return err
		}
		if _, err := f.out.Write(c.encoded); err != nil {
			return err
		}
		for n := range c.ready {
			f.written.add(&c.records[n], &c.outcomes[n])
			if c.records[n].bad() && f.Bad != nil {
				f.Bad(&c.records[n])
			}
		}
		if c.err != nil {
			return cmp.Or(ctx.Err(), c.err)
		}
		f.room.Release(c.size)
		for n := range c.outcomes {
			kept := c.outcomes[n].JSON[:0]
			if cap(kept) > keptJSON {
				kept = nil
			}
			c.outcomes[n] = Outcome{JSON: kept}
		}
		clear(c.records)
		if cap(c.encoded) > chunkRecords*keptJSON {
			c.encoded = nil
		}
		f.spare.Put(&chunk{records: c.records[:0], outcomes: c.outcomes, encoded: c.encoded[:0], done: c.done})
	}
}

// flush flushes the output if it is due, and reports what was written.
func (f *flow) flush(due bool) error {
	if !due || f.written == f.flushed && f.out.Buffered() == 0 {
		return nil
	}
	if err := f.out.Flush(); err != nil {
		return err
	}
	f.flushed = f.written
	if f.Written != nil {
		f.Written(f.flushed)
	}
	return nil
}
