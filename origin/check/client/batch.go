package client

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Checker checks records through a service, for one run or one call: after the first error
// it sends nothing more, since what comes after would be charged for nothing. Its runs should
// read with [Batches] and have [Concurrency] workers.
type Checker struct {
	Client  *Client
	Details bool // results have the evidence
	Reasons bool // ask for the evidence all the same: the reasons of refusals are in it

	Policy  string          // of the account, which decides in place of the key's default; "" for none
	Decider *pipeline.Local // decides here, by a policy that the service does not have; nil for none
	Plain   bool            // leave out the verdict of the key's default policy

	failed atomic.Pointer[error]
}

const (
	maxBatch = 64     // addresses in a batch
	maxText  = 16_000 // bytes of an address in JSON; 64 of these are less than the longest request, 1 MiB
)

// A finding is what is known of an address.
type finding struct {
	pipeline.Outcome
	reported *result.Result // nil if there is none
}

func failure(code, message string) *finding {
	return &finding{Outcome: pipeline.Outcome{Code: code, Message: message}}
}

// What is known of addresses that the service did not check. They cost nothing.
var (
	notUTF8 = failure("INVALID_EMAIL_FORMAT",
		"the address is not UTF-8, so it cannot be sent to the service; it is not valid")
	tooLong = failure("INVALID_EMAIL_FORMAT",
		"the address is too long to be sent to the service; it is not valid")
	unfinished = failure("REQUEST_CANCELLED",
		"the batch ran out of time before this address; it was not charged, try it again")
)

// Check sends the addresses of the records with POST /v1/emails and sets their outcomes. Equal
// addresses are sent once. More than fit one request are sent in several, one after the other,
// and so is what a partial response leaves.
func (c *Checker) Check(ctx context.Context, records []pipeline.Record, outcomes []pipeline.Outcome) error {
	found, rest := make(map[string]*finding, len(records)), make([]string, 0, len(records))
	for _, r := range records {
		if r.Err != nil || found[r.Email] != nil {
			continue
		}
		text, err := jsontext.AppendQuote(nil, r.Email)
		switch {
		case err != nil: // JSON text is UTF-8 (RFC 8259 section 8.1)
			found[r.Email] = notUTF8
		case len(text) > maxText:
			found[r.Email] = tooLong
		default:
			found[r.Email], rest = unfinished, append(rest, r.Email)
		}
	}
	for len(rest) > 0 {
		got, err := c.batch(ctx, rest[:min(len(rest), maxBatch)])
		if err != nil {
			return err
		}
		maps.Copy(found, got)
		rest = slices.DeleteFunc(rest, func(email string) bool { return got[email] != nil })
		if c.Client.Once {
			break
		}
	}
	reported := make([]*result.Result, len(records))
	for n, r := range records {
		if r.Err == nil {
			outcomes[n], reported[n] = found[r.Email].Outcome, found[r.Email].reported
		}
	}
	if c.Decider == nil {
		return nil
	}
	return c.Decider.Decide(ctx, reported, outcomes)
}

// asksDetails reports whether the service is asked for the evidence.
func (c *Checker) asksDetails() bool { return c.Details || c.Reasons || c.Decider != nil }

// scarcePoints is the number of points left from which batches are sent one at a
// time. Those that are in flight could use them up, so that a batch is refused
// while one after it gets its response and is charged, but not written.
const scarcePoints = 2 * Concurrency * maxBatch

// batch sends one request for different addresses and returns what its response has: the
// finding of at least one.
func (c *Checker) batch(ctx context.Context, emails []string) (map[string]*finding, error) {
	body, err := json.Marshal(struct {
		Emails  []string `json:"emails"`
		Details bool     `json:"details,omitzero"`
		Policy  string   `json:"policy,omitzero"`
	}{emails, c.asksDetails(), c.Policy})
	if err != nil {
		return nil, err
	}
	slots := int64(1)
	if c.Client.scarce.Load() {
		slots = Concurrency
	}
	if err := c.Client.slots.Acquire(ctx, slots); err != nil {
		return nil, context.Cause(ctx)
	}
	defer c.Client.slots.Release(slots)
	if failed := c.failed.Load(); failed != nil {
		return nil, *failed
	}
	var found map[string]*finding
	text, err := c.Client.send(ctx, "v1/emails", body, patience)
	if err == nil {
		found, err = c.readBatch(text, emails)
	}
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
	}
	return found, err
}

// Batches returns an input that reads at most as many records at a time as a batch
// may have addresses. A run that stops has then written whole batches.
func Batches(in pipeline.Input) pipeline.Input { return batches{in} }

type batches struct{ pipeline.Input }

// Read reads at most maxBatch records.
func (b batches) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	return b.Input.Read(dst[:len(dst):min(cap(dst), len(dst)+maxBatch)])
}
