package client

import (
	"bytes"
	"context"
	"slices"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Checker checks records through a service. Its runs should read with [Batches]
// and have [Concurrency] workers.
type Checker struct {
	Client  *Client
	Details bool // results have the evidence
	Reasons bool // ask for the evidence all the same: the reasons of refusals are in it

	Policy  string          // of the account, which decides in place of the key's default; "" for none
	Decider *pipeline.Local // decides here, by a policy that the service does not have; nil for none
	Plain   bool            // leave out the verdict of the key's default policy
}

// Check sends the addresses of the records and sets their outcomes.
func (c *Checker) Check(ctx context.Context, records []pipeline.Record, outcomes []pipeline.Outcome) error {
	emails := make([]string, 0, len(records))
	for n := range records {
		if records[n].Err == nil {
			emails = append(emails, records[n].Email)
		}
	}
	items, err := c.Client.Batch(ctx, emails, Options{Details: c.Details || c.Reasons || c.Decider != nil, Policy: c.Policy})
	if err != nil {
		return err
	}
	reported := make([]*result.Result, len(records))
	for n := range records {
		if records[n].Err != nil {
			continue
		}
		if outcomes[n], reported[n], err = c.outcomeOf(items[0]); err != nil {
			return err
		}
		items = items[1:]
	}
	if c.Decider == nil {
		return nil
	}
	return c.Decider.Decide(ctx, reported, outcomes)
}

// outcomeOf returns the outcome of an item, and the result that it has, or nil.
func (c *Checker) outcomeOf(i Item) (o pipeline.Outcome, reported *result.Result, err error) {
	if i.Code != "" {
		return pipeline.Outcome{Code: i.Code, Message: i.Message}, nil, nil
	}
	r, err := result.Parse(i.Result)
	if err != nil {
		return o, nil, err
	}
	o = pipeline.Outcome{Flags: r.Flags(), MX: mxOf(&r)}
	if !c.Plain {
		o.Verdict = r.Verdict
	}
	if r.Details != nil && r.Details.Refusal != nil {
		o.Refusal = *r.Details.Refusal
	}
	o.JSON = c.trim(&r, i.Result)
	return o, &r, nil
}

// trim returns the text of a result without the details that only Reasons or Decider asked
// for, and without the verdict of the key's default policy where Decider decides or nothing.
func (c *Checker) trim(r *result.Result, text []byte) []byte {
	end := len(text) - 1
	if r.Verdict.Action != "" {
		end = bytes.LastIndex(text, []byte(verdictMember))
	}
	facts, rest := text[:end], text[end:]
	if c.Decider != nil || c.Plain {
		rest = rest[len(rest)-1:]
	}
	if !c.Details {
		facts, _, _ = bytes.Cut(facts, []byte(`,"details":`))
	}
	return slices.Concat(facts, rest)
}

// mxOf returns the MX of a result. The domain of an address that is not valid is
// not looked up.
func mxOf(r *result.Result) pipeline.MX {
	switch {
	case !r.Valid:
		return pipeline.MXUnknown
	case r.MX:
		return pipeline.MXTrue
	}
	return pipeline.MXFalse
}

// Batches returns an input that reads at most as many records at a time as a batch
// may have addresses. A run that stops has then written whole batches.
func Batches(in pipeline.Input) pipeline.Input { return batches{in} }

type batches struct{ pipeline.Input }

// Read reads at most maxBatch records.
func (b batches) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	return b.Input.Read(dst[:len(dst):min(cap(dst), len(dst)+maxBatch)])
}
