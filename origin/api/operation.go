package api

import (
	"context"
	"net/http"

	"github.com/addrspec/addrspec/origin/ledger"
)

// An operation describes what differs between the endpoints that need a key: how
// the input is read, what it costs, the shape of problems, the work and the
// answer. The pipeline does the rest.
type operation struct {
	name string // in logs and metrics

	// guard is called before all other steps; it may be nil.
	guard func(*Server, http.Header) *problem
	// style is the style of problems, unless the job has another.
	style *problemStyle
	// read reads and checks the input: 415, 413, 400. A job returned with a
	// problem may set its style.
	read func(*exchange, *http.Request) (job, *problem)
}

// A job is the valid input of one request.
type job struct {
	// style replaces the operation's if it is not nil.
	style *problemStyle
	// price is the most that the work can cost, in points; 0 if it is free.
	price int64
	// record is not nil if the request carries an Idempotency-Key.
	record *idempotencyRecord
	// work does the work. It stops when ctx ends and returns what is finished.
	work func(x *exchange, ctx context.Context) (outcome, *problem)
}

// An outcome is the result of the work.
type outcome struct {
	points int64        // for what is finished; equal to the price if all is
	found  ledger.Found // counts of the addresses that are charged
	body   []byte       // the answer
}

// A problemStyle describes the problems of an operation.
type problemStyle struct {
	// inputShape is the shape of problems with the request's input.
	inputShape shape
	// insufficientPoints returns the problem of a request that needs more points
	// than are left.
	insufficientPoints func(d ledger.Decision, required int64) *problem
}

var (
	singleStyle = &problemStyle{flat, insufficientForSingle}
	batchStyle  = &problemStyle{enveloped, insufficientForBatch}
)
