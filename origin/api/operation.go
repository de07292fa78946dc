package api

import (
	"context"
	"net/http"

	"github.com/addrspec/addrspec/origin/ledger"
)

// An operation is one thing that callers pay for, as a value: how its input is
// read, what it costs, what its problems look like, how it works and how it
// answers. The pipeline does the rest, the same for all of them.
type operation struct {
	name string // in logs and metrics

	// guard is asked before everything else; nil lets everyone in.
	guard func(*Server, http.Header) *problem
	// style is what problems look like, unless a job has another.
	style *problemStyle
	// read reads and judges the input: 415, 413, 400. The job that comes with a
	// problem names the style of that problem.
	read func(*exchange, *http.Request) (job, *problem)
}

// A job is the input of one request, read and found good.
type job struct {
	// style replaces the operation's if it is not nil.
	style *problemStyle
	// price is the most that the work can cost, in points; 0 is free.
	price int64
	// record is not nil if the request carries an Idempotency-Key.
	record *idempotencyRecord
	// work does the job. It stops when ctx ends and reports what is finished.
	work func(ctx context.Context) (outcome, *problem)
}

// An outcome is what the work came to.
type outcome struct {
	points int64        // for what is finished; the price if everything is
	found  ledger.Found // at the addresses that are charged
	body   []byte       // the answer
}

// A style is what the problems of an operation look like.
type problemStyle struct {
	// input is the shape of every problem with the request's input.
	inputShape shape
	// points is the problem of a request that needs more points than are left.
	insufficientPoints func(d ledger.Decision, required int64) *problem
}

var (
	singleStyle = &problemStyle{flat, insufficientForSingle}
	batchStyle  = &problemStyle{enveloped, insufficientForBatch}
)
