package client

import (
	"bytes"
	"context"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Checker checks records through a service. Its runs should read with [Batches]
// and have [Concurrency] workers.
type Checker struct {
	Client  *Client
	Details bool // results have the evidence
	Reasons bool // ask for the evidence all the same: the reasons of refusals are in it
}

// Check sends the addresses of the records and sets their outcomes.
func (c *Checker) Check(ctx context.Context, records []check.Record, outcomes []check.Outcome) error {
	emails := make([]string, 0, len(records))
	for n := range records {
		if records[n].Err == nil {
			emails = append(emails, records[n].Email)
		}
	}
	items, err := c.Client.Batch(ctx, emails, c.Details || c.Reasons)
	if err != nil {
		return err
	}
	for n := range records {
		if records[n].Err != nil {
			continue
		}
		if outcomes[n], err = c.outcomeOf(items[0]); err != nil {
			return err
		}
		items = items[1:]
	}
	return nil
}

func (c *Checker) outcomeOf(i Item) (o check.Outcome, err error) {
	if i.Code != "" {
		return check.Outcome{Code: i.Code, Message: i.Message}, nil
	}
	r, err := result.Parse(i.Result)
	if err != nil {
		return o, err
	}
	o = check.Outcome{JSON: i.Result, Flags: r.Flags(), MX: mxOf(&r), Verdict: r.Verdict}
	if r.Details != nil && r.Details.Refusal != nil {
		o.Refusal = *r.Details.Refusal
	}
	if !c.Details {
		o.JSON = withoutDetails(o.JSON)
	}
	return o, nil
}

// withoutDetails returns a result without the member details: the 16 fields, and the
// verdict if the key has a policy. The names with their quotes cannot occur inside a
// string, where they would be escaped.
func withoutDetails(text []byte) []byte {
	before, details, found := bytes.Cut(text, []byte(`,"details":`))
	if !found {
		return text
	}
	before = before[:len(before):len(before)]
	if at := bytes.LastIndex(details, []byte(`,"verdict":`)); at >= 0 {
		return append(before, details[at:]...)
	}
	return append(before, '}')
}

// mxOf returns the MX of a result. The domain of an address that is not valid is
// not looked up.
func mxOf(r *result.Result) check.MX {
	switch {
	case !r.Valid:
		return check.MXUnknown
	case r.MX:
		return check.MXTrue
	}
	return check.MXFalse
}

// Batches returns an input that reads at most as many records at a time as a batch
// may have addresses. A run that stops has then written whole batches.
func Batches(in check.Input) check.Input { return batches{in} }

type batches struct{ check.Input }

// Read reads at most maxBatch records.
func (b batches) Read(dst []check.Record) ([]check.Record, error) {
	return b.Input.Read(dst[:len(dst):min(cap(dst), len(dst)+maxBatch)])
}
