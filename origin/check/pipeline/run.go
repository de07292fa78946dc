package pipeline

import (
	"bufio"
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

// An orderly Checker begins what takes long in input order: what came first is written
// first, so a run that is interrupted has written most of what it found out.
type orderly interface {
	checkInTurn(ctx context.Context, turn turn, records []Record, outcomes []Outcome) error
}

// A turn is the place of a chunk in the input. The zero turn is that of records that no
// others precede or follow.
type turn struct {
	before <-chan struct{} // closed when all before it have begun; nil for the first
	begun  func()          // lets the next one begin
}

// wait waits until all before it have begun.
func (t turn) wait(ctx context.Context) error {
	if t.before == nil {
		return ctx.Err()
	}
	select {
	case <-t.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pass lets the next one begin.
func (t turn) pass() {
	if t.begun != nil {
		t.begun()
	}
}

// A flow is what the goroutines of a run share.
type flow struct {
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
	p := &flow{Run: r, work: make(chan *chunk), order: make(chan *chunk, 2*r.Workers),
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
func (p *flow) check(ctx context.Context) {
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
func (p *flow) read(ctx context.Context) {
	defer close(p.work)
	defer close(p.order)
	var before <-chan struct{}
	for first := true; ; first = false {
		c := p.take()
		before = c.follow(before)
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
func (p *flow) take() *chunk {
	select {
	case c := <-p.spare:
		return c.empty()
	default:
		return (&chunk{records: make([]Record, 0, chunkRecords), outcomes: make([]Outcome, chunkRecords)}).empty()
	}
}

// head gives the writer what precedes the records.
func (p *flow) head(ctx context.Context) bool {
	c := p.take()
	c.encoded, c.err = p.Format.Head(c.encoded)
	close(c.done)
	return send(ctx, p.order, c)
}

// pass waits until there is room for c, and passes it on.
func (p *flow) pass(ctx context.Context, c *chunk) bool {
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
func (p *flow) release(c *chunk) {
	p.room.Release(c.size)
	select {
	case p.spare <- c:
	default:
	}
}

// refuse returns the error that ends a strict run at a record that cannot be read.
func (r *Run) refuse(record *Record) error {
	if !r.Strict || !record.bad() {
		return nil
	}
	return &BadRecord{Record: *record}
}

const (
	// chunkRecords is the most records that one worker takes at a time.
	chunkRecords = 256
	// keptJSON is the largest buffer of a result that is kept for the next one, in
	// bytes. A usual result has about 400.
	keptJSON = 4 << 10
)

// A chunk is some records in a row.
type chunk struct {
	records  []Record
	outcomes []Outcome
	size     int64 // of the records, in bytes

	encoded []byte
	ready   int           // records that are encoded, all of them unless err is set
	err     error         // ends the run once what is before it is written
	turn    turn          // to begin
	done    chan struct{} // closed when the worker is finished with it
}

// empty makes c as good as new but for the memory that it keeps.
func (c *chunk) empty() *chunk {
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
	*c = chunk{records: c.records[:0], outcomes: c.outcomes, encoded: c.encoded[:0], done: make(chan struct{})}
	return c
}

// follow sets the turn of c, and returns what is closed when c has begun.
func (c *chunk) follow(before <-chan struct{}) <-chan struct{} {
	begun := make(chan struct{})
	c.turn = turn{before, sync.OnceFunc(func() { close(begun) })}
	return begun
}

// measured sets the size of the records.
func (c *chunk) measured() *chunk {
	for n := range c.records {
		c.size += c.records[n].size()
	}
	return c
}

// finish checks and encodes the records.
func (c *chunk) finish(ctx context.Context, r *Run) {
	defer close(c.done)
	c.err = c.check(ctx, r.Checker)
	if c.err != nil {
		return
	}
	for n := range c.records {
		c.err = r.refuse(&c.records[n])
		if c.err != nil {
			return
		}
		c.encoded, c.err = r.Format.Append(c.encoded, &c.records[n], &c.outcomes[n])
		if c.err != nil {
			return
		}
		c.ready++
	}
}

func (c *chunk) check(ctx context.Context, by Checker) error {
	defer c.turn.pass()
	outcomes := c.outcomes[:len(c.records)]
	if o, ok := by.(orderly); ok {
		return o.checkInTurn(ctx, c.turn, c.records, outcomes)
	}
	return by.Check(ctx, c.records, outcomes)
}

// outputBuffer is the size of the buffer before the output, in bytes.
const outputBuffer = 64 << 10

// A writer writes the chunks of a run in order.
type writer struct {
	*flow
	out     *bufio.Writer
	written Counts // in the buffer or flushed
	flushed Counts
}

func newWriter(p *flow) *writer {
	return &writer{flow: p, out: bufio.NewWriterSize(p.Output, outputBuffer)}
}

// write writes chunks until there are no more. What it has written by then is
// flushed, also if it returns an error.
func (w *writer) write(ctx context.Context) error {
	for {
		c, err := w.next(ctx)
		if c == nil {
			return w.end(err)
		}
		if err := w.append(c.encoded); err != nil {
			return err
		}
		w.count(c)
		if c.err != nil {
			return w.end(c.err)
		}
		w.release(c)
	}
}

// end flushes, and returns the error that came first.
func (w *writer) end(err error) error {
	if failed := w.flush(); err == nil {
		return failed
	}
	return err
}

// append writes to the buffer. A chunk is flushed as a whole, so that after an
// error flushed is exactly what was written before it.
func (w *writer) append(encoded []byte) error {
	if len(encoded) > w.out.Available() {
		if err := w.flush(); err != nil {
			return err
		}
	}
	_, err := w.out.Write(encoded)
	return err
}

// next returns the next chunk once it is finished, or nil at the end. Before it
// waits, it flushes.
func (w *writer) next(ctx context.Context) (*chunk, error) {
	c, more := (*chunk)(nil), true
	select {
	case c, more = <-w.order:
	default:
		if err := w.flush(); err != nil {
			return nil, err
		}
		select {
		case c, more = <-w.order:
		case <-ctx.Done():
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !more:
		return nil, w.readErr
	}
	return w.finished(ctx, c)
}

func (w *writer) finished(ctx context.Context, c *chunk) (*chunk, error) {
	select {
	case <-c.done:
		return c, nil
	default:
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flush flushes the output and reports what was written.
func (w *writer) flush() error {
	if w.written == w.flushed && w.out.Buffered() == 0 {
		return nil
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	w.flushed = w.written
	if w.Written != nil {
		w.Written(w.flushed)
	}
	return nil
}

// count counts the records of c that are encoded.
func (w *writer) count(c *chunk) {
	for n := range c.ready {
		w.written.add(&c.records[n], &c.outcomes[n])
		if c.records[n].bad() && w.Bad != nil {
			w.Bad(&c.records[n])
		}
	}
}
