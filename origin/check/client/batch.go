package client

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/words"
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
	o := Options{Details: c.Details || c.Reasons || c.Decider != nil, Policy: c.Policy}
	items, err := c.Client.Batch(ctx, emails, o)
	if err != nil {
		return err
	}
	reported := make([]*result.Result, len(records))
	for n := range records {
		if records[n].Err != nil {
			continue
		}
		item := items[0]
		items = items[1:]
		if item.Code != "" {
			outcomes[n] = pipeline.Outcome{Code: item.Code, Message: item.Message}
			continue
		}
		r, err := result.Parse(item.Result)
		if err != nil {
			return err
		}
		outcomes[n], reported[n] = c.outcomeOf(&r, item.Result), &r
	}
	if c.Decider == nil {
		return nil
	}
	return c.Decider.Decide(ctx, reported, outcomes)
}

// outcomeOf returns the outcome of a result. Its JSON is without the details that only Reasons
// or Decider asked for, and without the verdict of the key's default policy where Decider
// decides or nothing.
func (c *Checker) outcomeOf(r *result.Result, text []byte) pipeline.Outcome {
	o := pipeline.Outcome{Flags: r.Flags(), MX: pipeline.MXFalse}
	switch {
	case !r.Valid: // its domain is not looked up
		o.MX = pipeline.MXUnknown
	case r.MX:
		o.MX = pipeline.MXTrue
	}
	if r.Details != nil && r.Details.Refusal != nil {
		o.Refusal = *r.Details.Refusal
	}
	end := len(text) - 1
	if r.Verdict.Action != "" {
		end = bytes.LastIndex(text, []byte(verdictMember))
	}
	facts, rest := text[:end], text[end:]
	if !c.Plain {
		o.Verdict = r.Verdict
	}
	if c.Decider != nil || c.Plain {
		rest = rest[len(rest)-1:]
	}
	if !c.Details {
		facts, _, _ = bytes.Cut(facts, []byte(`,"details":`))
	}
	o.JSON = slices.Concat(facts, rest)
	return o
}

// Batches returns an input that reads at most as many records at a time as a batch
// may have addresses. A run that stops has then written whole batches.
func Batches(in pipeline.Input) pipeline.Input { return batches{in} }

type batches struct{ pipeline.Input }

// Read reads at most maxBatch records.
func (b batches) Read(dst []pipeline.Record) ([]pipeline.Record, error) {
	return b.Input.Read(dst[:len(dst):min(cap(dst), len(dst)+maxBatch)])
}

// An Item is what is known of one address.
type Item struct {
	// Result is a JSON object of 16 fields, details if asked for, and the verdict of a
	// policy, on one line. It is nil if Code is set.
	Result        []byte
	Code, Message string // of an error that concerns this address, such as DNS_TIMEOUT
}

// Options are what a batch asks for besides the facts.
type Options struct {
	Details bool
	Policy  string // a name; "" for the key's default
}

const (
	codeInvalid = "INVALID_EMAIL_FORMAT" // of an address that cannot be sent
	textNotUTF8 = "the address is not UTF-8, so it cannot be sent to the service; it is not valid"
	textTooLong = "the address is too long to be sent to the service; it is not valid"

	codeUnfinished = "REQUEST_CANCELLED" // of an address that a partial response does not have
	textUnfinished = "the batch ran out of time before this address; it was not charged, try it again"
)

// Batch checks addresses with POST /v1/emails and returns an item for each, in
// their order. Equal addresses are sent once. An address that cannot be sent gets
// an item with a code, at no cost.
//
// More addresses than fit one request are sent in several, one after the other. A
// response that is partial is completed with further requests for the rest.
func (c *Client) Batch(ctx context.Context, emails []string, o Options) ([]Item, error) {
	found, seen := make(map[string]Item, len(emails)), make(map[string]bool, len(emails))
	var rest []string
	for _, email := range emails {
		switch {
		case seen[email]:
		case !utf8.ValidString(email): // JSON text is UTF-8 (RFC 8259 section 8.1)
			found[email] = Item{Code: codeInvalid, Message: textNotUTF8}
		case len(email) >= maxBody || len(bodyStart)+len(encoded(email))+bodyRest > maxBody:
			found[email] = Item{Code: codeInvalid, Message: textTooLong}
		default:
			rest = append(rest, email)
		}
		seen[email] = true
	}
	for len(rest) > 0 {
		n, body := encodeBatch(rest, o)
		if c.once && n < len(rest) {
			return nil, errors.New("the addresses do not fit one batch of 64 addresses and 1 MiB; send fewer at a time")
		}
		if err := c.batch(ctx, rest[:n], body, o, found); err != nil {
			return nil, err
		}
		rest = slices.DeleteFunc(rest, func(email string) bool {
			_, ok := found[email]
			return ok
		})
		if c.once {
			for _, email := range rest {
				found[email] = Item{Code: codeUnfinished, Message: textUnfinished}
			}
			break
		}
	}
	items := make([]Item, len(emails))
	for n, email := range emails {
		items[n] = found[email]
	}
	return items, nil
}

// unlimitedPoints is the number of points left for an account without a limit, and
// before it is known.
const unlimitedPoints = 1 << 62

// scarcePoints is the number of points left from which batches are sent one at a
// time. Those that are in flight could use them up, so that a batch is refused
// while one after it gets its response and is charged, but not written.
const scarcePoints = 2 * Concurrency * maxBatch

// batch sends one request and adds the items of its response, at least one, to
// found.
func (c *Client) batch(ctx context.Context, emails []string, body []byte, o Options, found map[string]Item) error {
	slots := int64(1)
	if c.left.Load() < scarcePoints {
		slots = Concurrency
	}
	if err := c.slots.Acquire(ctx, slots); err != nil {
		return context.Cause(ctx)
	}
	defer c.slots.Release(slots)
	if failed := c.failed.Load(); failed != nil {
		return *failed
	}
	r := &request{method: http.MethodPost, path: "/v1/emails", body: body, patience: patience}
	if !c.once {
		// The same for each attempt and for a later run with the same RunID, else random.
		mac := hmac.New(sha256.New, []byte(c.runID))
		mac.Write(body)
		r.idempotency = base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	text, err := c.send(ctx, r)
	p, _ := errors.AsType[*Problem](err)
	switch {
	case err == nil:
		err = readBatch(text, emails, o, found)
	case p != nil && p.Status == http.StatusPaymentRequired && p.Code != "" && !c.once:
		err = c.outOfPoints(ctx, p)
	}
	if err != nil && c.oneRun {
		c.failed.CompareAndSwap(nil, &err)
	}
	return err
}

// outOfPoints returns the error of an account with too few points left: what is left and when
// the points refill.
func (c *Client) outOfPoints(ctx context.Context, p *Problem) error {
	text, refill := "the month's usage points are used up", "with the next month (UTC)"
	left := p.remaining
	if u, err := c.Usage(ctx); err == nil {
		left, _ = u.Left()
		refill = "on " + words.Time(u.Points.Refill)
	}
	if left > 0 {
		text = fmt.Sprintf("too few usage points are left this month: %d", left)
		if p.required > 0 {
			text += fmt.Sprintf(", and the next batch needs %d", p.required)
		}
	}
	return errors.New(text + "; they refill " + refill)
}

const (
	maxBatch      = 64      // addresses in a batch
	maxBody       = 1 << 20 // bytes of a request
	maxPolicyName = 64      // bytes; a name needs no escapes

	bodyStart   = `{"emails":[`
	bodyEnd     = `]`
	bodyDetails = `,"details":true`
	bodyPolicy  = `,"policy":`
	bodyRest    = len(bodyEnd+bodyDetails+bodyPolicy) + maxPolicyName + len(`""}`)
)

// encodeBatch returns the body for as many of the emails, from the first, as one
// request may have: at least one.
func encodeBatch(emails []string, o Options) (n int, body []byte) {
	body = append(body, bodyStart...)
	for ; n < min(len(emails), maxBatch); n++ {
		next := encoded(emails[n])
		if n > 0 {
			if len(body)+1+len(next)+bodyRest > maxBody {
				break
			}
			body = append(body, ',')
		}
		body = append(body, next...)
	}
	body = append(body, bodyEnd...)
	if o.Details {
		body = append(body, bodyDetails...)
	}
	if o.Policy != "" {
		body = append(append(body, bodyPolicy...), encoded(o.Policy)...)
	}
	return n, append(body, '}')
}
