// Package pipeline checks lists of addresses of any length, in constant memory and in input order. A [Run] connects
// an [Input], which reads records (package input), a [Checker], which finds out about their addresses ([Local]: the
// module and MX lookups; package client: a service), and a [Format], which encodes what was found (package output).
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/addrspec/addrspec/wasm/result"
)

// A Run checks the records of an input and writes them in input order.
type Run struct {
	Input   Input
	Checker Checker
	Format  Format
	Output  io.Writer
	Chunk   int  // the most records that a worker takes at a time; 0 for 256
	Workers int  // chunks that are checked at a time, at least 1
	Strict  bool // end at the first record that cannot be read

	Bad     func(*Record) // if not nil, is called with every record that could not be read, in order
	Written func(Counts)  // if not nil, is called after each write, with the counts of all that was written

	Records atomic.Int64 // that were read so far
}

// An Input reads records.
type Input interface {
	// Read appends at least one record to dst, and then those that need no wait for more input, up to the
	// capacity of dst. The error after the last record is io.EOF. A record that cannot be read has its Err set
	// and is no error of Read. What it has stays valid.
	Read(dst []Record) ([]Record, error)
}

// A Checker finds out about addresses. It is safe for concurrent use.
type Checker interface {
	// Check sets the outcome of every record without an Err. An error ends the run; one of a single address is
	// part of its outcome.
	Check(ctx context.Context, records []Record, outcomes []Outcome) error
}

// A Format encodes records with their outcomes. It is safe for concurrent use.
type Format interface {
	// Head appends what precedes the records. It is called once, before Append and after the first Read.
	Head(dst []byte) ([]byte, error)
	// Append appends the line or lines of one record to dst.
	Append(dst []byte, r *Record, o *Outcome) ([]byte, error)
}

// A Record is one entry of the input.
type Record struct {
	File   string   // its name, if several are read; else ""
	Line   int64    // in which it begins, from 1; 0 for an argument
	Email  string   // the address
	Cells  []string // all columns of a row of CSV or TSV, as many as the table has unless Err is set
	Object []byte   // the whole JSON value of an entry of NDJSON
	Err    error    // why there is no address, without the line's number; else nil
}

// A Layout is what is known of an input of CSV after its first record was read.
type Layout struct {
	Comma    byte       // the separator; 0 if the input is not CSV, and its records have no cells
	Header   []string   // the names of the columns, nil without a header
	Width    int        // how many columns there are
	Preamble [][]string // the rows before the header, which are no records
}

// A Reading is how the bytes of an input were read as text.
type Reading struct {
	Name     string `json:"name"`     // of the input
	Encoding string `json:"encoding"` // its name in the WHATWG Encoding Standard, or xlsx; "" if that is not known yet
	Why      string `json:"why"`      // such as "line 3 is not UTF-8"
	Guessed  bool   `json:"guessed"`  // it may be another one
	Mark     bool   `json:"-"`        // a byte order mark begins it, or it is no UTF-8: so may an output
}

// ErrNoAddress is the Err of a record that can be read and has no address, such as a blank line.
var ErrNoAddress = errors.New("the row has no address")

func (r *Record) bad() bool { return r.Err != nil && !errors.Is(r.Err, ErrNoAddress) }

// A BadRecord is the error that ends a strict run.
type BadRecord struct{ error }

// An Outcome is what a check found: a result, or why there is none.
type Outcome struct {
	JSON    []byte // the result, an object of 16 fields, with details and verdict if asked for; nil if Code is set
	Flags   result.Flags
	NoMX    bool           // MX records were looked up, and there is none
	Refusal result.Refusal // of an address that is not valid; the code alone is "" if the service did not say
	Verdict result.Verdict // of a policy, also in JSON; zero without one

	Reported *result.Result // by a service, with details if these were asked for; nil in this process

	Code    string // of an error that concerns this address, such as DNS_TIMEOUT; else ""
	Message string // of the same error
}

// Counts are how many records had what.
type Counts struct {
	Records   int64 // read and written, of every kind
	Bad       int64 // records that cannot be read
	NoAddress int64 // records that have no address

	Valid, Invalid                                   int64
	Typo, Disposable, Public, Relay, Role, Gibberish int64 // of the valid ones
	NoMX                                             int64 // valid, and looked up
	Errors                                           int64 // addresses that could not be checked
	Allow, Review, Block                             int64 // by the policy
}

func (c *Counts) add(r *Record, o *Outcome) {
	checked := r.Err == nil && o.Code == ""
	valid := checked && o.Flags.Valid
	c.Records++
	for _, field := range []struct {
		set   bool
		count *int64
	}{
		{r.bad(), &c.Bad}, {r.Err != nil && !r.bad(), &c.NoAddress}, {r.Err == nil && !checked, &c.Errors},
		{checked && !valid, &c.Invalid}, {valid, &c.Valid}, {valid && o.NoMX, &c.NoMX},
		{valid && o.Flags.Typo, &c.Typo}, {valid && o.Flags.Disposable, &c.Disposable},
		{valid && o.Flags.Public, &c.Public}, {valid && o.Flags.Relay, &c.Relay},
		{valid && o.Flags.Role, &c.Role}, {valid && o.Flags.Gibberish, &c.Gibberish},
		{o.Verdict.Action == result.Allow, &c.Allow}, {o.Verdict.Action == result.Review, &c.Review},
		{o.Verdict.Action == result.Block, &c.Block},
	} {
		if field.set {
			*field.count++
		}
	}
}

const (
	chunkRecords = 256
	mostInFlight = 32 << 20 // bytes of records, besides one chunk; their results need three times as much
)

type chunk struct {
	records  []Record
	outcomes []Outcome
	size     int64 // of the records, in bytes
	encoded  []byte
	ready    int           // records that are encoded, all of them unless err is set
	err      error         // ends the run once what is before it is written
	done     chan struct{} // receives when the worker is finished with it
}

type flow struct {
	*Run
	work   chan *chunk         // to the workers
	order  chan *chunk         // to the writer, in input order
	failed error               // of Read; set before order is closed
	room   *semaphore.Weighted // for bytes of records
}

// Do runs until the input ends, an error occurs or ctx ends. It returns the counts of what was written, also
// with an error. A Read that waits for input when ctx ends is abandoned: no system call can be cancelled.
func (r *Run) Do(ctx context.Context) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &flow{Run: r, work: make(chan *chunk), order: make(chan *chunk, 2*r.Workers),
		room: semaphore.NewWeighted(mostInFlight)}
	go f.read(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range r.Workers {
		workers.Go(func() { f.check(ctx) })
	}
	return f.write(ctx)
}

// read gives each chunk to a worker, and to the writer for its place.
func (f *flow) read(ctx context.Context) {
	defer close(f.order)
	for first := true; ; first = false {
		c := &chunk{done: make(chan struct{}, 1)}
		var err error
		c.records, err = f.Input.Read(make([]Record, 0, cmp.Or(f.Chunk, chunkRecords)))
		f.Records.Add(int64(len(c.records)))
		if !errors.Is(err, io.EOF) {
			f.failed = err
		}
		if first && (len(c.records) > 0 || f.failed == nil) {
			head := &chunk{done: make(chan struct{}, 1)}
			head.encoded, head.err = f.Format.Head(nil)
			wrong := head.err // the writer owns the chunk from here on
			head.done <- struct{}{}
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

func (f *flow) check(ctx context.Context) {
	for {
		var c *chunk
		select {
		case c = <-f.work:
		case <-ctx.Done():
			return
		}
		c.outcomes = make([]Outcome, len(c.records))
		c.err = f.Checker.Check(ctx, c.records, c.outcomes)
		for c.err == nil && c.ready < len(c.records) {
			record := &c.records[c.ready]
			if f.Strict && record.bad() {
				where := strings.TrimSpace(fmt.Sprintf("%s line %d", record.File, record.Line))
				c.err = BadRecord{fmt.Errorf("%s: %w", where, record.Err)}
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

func (f *flow) write(ctx context.Context) (written Counts, err error) {
	for {
		var c *chunk
		select {
		case c = <-f.order:
			if c == nil {
				return written, cmp.Or(ctx.Err(), f.failed)
			}
		case <-ctx.Done():
			return written, ctx.Err()
		}
		<-c.done
		if _, err := f.Output.Write(c.encoded); err != nil {
			return written, err
		}
		for n := range c.ready {
			written.add(&c.records[n], &c.outcomes[n])
			if c.records[n].bad() && f.Bad != nil {
				f.Bad(&c.records[n])
			}
		}
		if f.Written != nil {
			f.Written(written)
		}
		if c.err != nil {
			return written, cmp.Or(ctx.Err(), c.err)
		}
		f.room.Release(c.size)
	}
}
