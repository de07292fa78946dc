// Package pipeline checks lists of addresses of any length, in constant memory and in
// input order.
//
// A [Run] connects three parts: an [Input] reads records (package input), a
// [Checker] finds out about their addresses ([Local]: the module and MX
// lookups; package client: a service), and a [Format] encodes what was found
// (package output).
package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/wasm/result"
)

// A Record is one entry of the input.
type Record struct {
	File   string   // its name, if several are read; else ""
	Line   int64    // in which it begins, from 1; 0 for an argument
	Email  string   // the address
	Cells  []string // all columns of a row of CSV or TSV, as many as the table has unless Err is set
	Object []byte   // the whole JSON value of an entry of NDJSON
	Err    error    // why there is no address, without the line's number; else nil
}

// ErrNoAddress is the Err of a record that can be read and has no address: a blank
// line, or a row whose cell for it is blank. It is no fault of the input.
var ErrNoAddress = errors.New("the row has no address")

// bad reports whether the record cannot be read.
func (r *Record) bad() bool { return r.Err != nil && !errors.Is(r.Err, ErrNoAddress) }

// A BadRecord is the error of a record that cannot be read.
type BadRecord struct{ Record Record }

// Error returns where the record is and what is wrong with it.
func (b *BadRecord) Error() string {
	return fmt.Sprintf("%sline %d: %v", strings.TrimPrefix(b.Record.File+" ", " "), b.Record.Line, b.Record.Err)
}

// Unwrap returns what is wrong.
func (b *BadRecord) Unwrap() error { return b.Record.Err }

// An Input reads records.
type Input interface {
	// Read appends at least one record to dst, and then those that need no wait for
	// more input, up to the capacity of dst. The error after the last record is
	// io.EOF. A record that cannot be read has its Err set and is no error of Read.
	// Its slices and strings remain valid.
	Read(dst []Record) ([]Record, error)
}

// An Outcome is what a check found: a result, or why there is none.
type Outcome struct {
	JSON    []byte // the result, an object of 16 fields, with details and verdict if asked for; nil if Code is set
	Flags   result.Flags
	MX      MX
	Refusal result.Refusal // of an address that is not valid; the code alone is "" if the service did not say
	Verdict result.Verdict // of a policy, also in JSON; zero without one

	Code    string // of an error that concerns this address, such as DNS_TIMEOUT; else ""
	Message string // of the same error
}

// MX is what is known of a domain's MX records.
type MX uint8

// MXUnknown is that of an address that was not looked up: mx in the result is then
// null, or false if there is no domain to look up.
const (
	MXUnknown MX = iota
	MXFalse
	MXTrue
)

// A Format encodes records with their outcomes. It is called from several
// goroutines at a time.
type Format interface {
	// Head appends what precedes the records. It is called once, before Append and
	// after the first Read, when the input's header is known.
	Head(dst []byte) ([]byte, error)
	// Append appends the line or lines of one record to dst.
	Append(dst []byte, r *Record, o *Outcome) ([]byte, error)
}

// Counts are how many records had what.
type Counts struct {
	Records   int64 // read and written, of every kind
	Bad       int64 // records that cannot be read
	NoAddress int64 // records that have no address

	Valid, Invalid                        int64
	Typo, Disposable, Public, Relay, Role int64 // of the valid ones
	Gibberish                             int64
	NoMX                                  int64 // valid, and looked up
	Errors                                int64 // addresses that could not be checked

	Allow, Review, Block int64 // by the policy
}

// add counts one record.
func (c *Counts) add(r *Record, o *Outcome) {
	checked := r.Err == nil && o.Code == ""
	valid := checked && o.Flags.Valid
	c.Records++
	for _, field := range []struct {
		set   bool
		count *int64
	}{
		{r.bad(), &c.Bad}, {r.Err != nil && !r.bad(), &c.NoAddress}, {r.Err == nil && !checked, &c.Errors},
		{checked && !valid, &c.Invalid}, {valid, &c.Valid}, {valid && o.MX == MXFalse, &c.NoMX},
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
