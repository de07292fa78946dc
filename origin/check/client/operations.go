package client

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/addrspec/addrspec/wasm/result"
)

// An Item is what is known of one address.
type Item struct {
	Result        []byte // a JSON object of 16 fields, details if asked for, and the verdict of a policy, on one line; nil if Code is set
	Code, Message string // of an error that concerns this address, such as DNS_TIMEOUT
}

// Options are what a batch asks for besides the facts.
type Options struct {
	Details bool
	Policy  string // a name; "" for the key's default
}

// Batch checks addresses with POST /v1/emails and returns an item for each, in
// their order. Equal addresses are sent once. An address that cannot be sent gets
// an item with a code, at no cost.
//
// More addresses than fit one request are sent in several, one after the other. A
// response that is partial is completed with further requests for the rest.
func (c *Client) Batch(ctx context.Context, emails []string, o Options) ([]Item, error) {
	found := make(map[string]Item, len(emails))
	for rest := distinct(emails, found); len(rest) > 0; {
		n, body := encodeBatch(rest, o)
		if c.once && n < len(rest) {
			return nil, errors.New("the addresses do not fit one batch of 64 addresses and 1 MiB; send fewer at a time")
		}
		if err := c.batch(ctx, rest[:n], body, o, found); err != nil {
			return nil, err
		}
		rest = missing(rest, found)
		if c.once {
			leaveOut(rest, found)
			break
		}
	}
	items := make([]Item, len(emails))
	for n, email := range emails {
		items[n] = found[email]
	}
	return items, nil
}

// distinct returns the addresses to send, each once. It adds the items of those
// that cannot be sent to found.
func distinct(emails []string, found map[string]Item) (list []string) {
	seen := make(map[string]bool, len(emails))
	for _, email := range emails {
		if seen[email] {
			continue
		}
		seen[email] = true
		if text := unsendable(email); text != "" {
			found[email] = Item{Code: codeInvalid, Message: text}
			continue
		}
		list = append(list, email)
	}
	return list
}

func missing(emails []string, found map[string]Item) (rest []string) {
	for _, email := range emails {
		if _, ok := found[email]; !ok {
			rest = append(rest, email)
		}
	}
	return rest
}

// codeUnfinished is the code of an address that a partial response does not have.
const codeUnfinished = "REQUEST_CANCELLED"

// leaveOut adds an item for each address that a partial response does not have.
func leaveOut(rest []string, found map[string]Item) {
	for _, email := range rest {
		found[email] = Item{Code: codeUnfinished, Message: "the batch ran out of time before this address; it was not charged, try it again"}
	}
}

// batch sends one request and adds the items of its response, at least one, to
// found.
func (c *Client) batch(ctx context.Context, emails []string, body []byte, o Options, found map[string]Item) error {
	release, err := c.share(ctx)
	if err != nil {
		return err
	}
	defer release()
	if failed := c.failed.Load(); failed != nil {
		return *failed
	}
	err = c.post(ctx, emails, body, o, found)
	if err != nil && c.oneRun {
		c.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (c *Client) post(ctx context.Context, emails []string, body []byte, o Options, found map[string]Item) error {
	r := &request{method: http.MethodPost, path: "/v1/emails", body: body, patience: patience}
	if !c.once {
		r.idempotency = c.idempotencyKey(body)
	}
	got, err := c.send(ctx, r)
	if err != nil {
		return c.withRefill(ctx, err)
	}
	return readBatch(got.body, emails, o, found)
}

// idempotencyKey returns the key of a batch with this body: the same for each
// attempt and for a later run with the same RunID, and otherwise random.
func (c *Client) idempotencyKey(body []byte) string {
	mac := hmac.New(sha256.New, []byte(c.runID))
	mac.Write(body)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// unlimitedPoints is the number of points left for an account without a limit, and
// before it is known.
const unlimitedPoints = 1 << 62

// scarcePoints is the number of points left from which batches are sent one at a
// time. Those that are in flight could use them up, so that a batch is refused
// while one after it gets its response and is charged, but not written.
const scarcePoints = 2 * Concurrency * maxBatch

// share waits for a share of the requests in flight.
func (c *Client) share(ctx context.Context) (release func(), err error) {
	n := int64(1)
	if c.left.Load() < scarcePoints {
		n = Concurrency
	}
	if err := c.slots.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { c.slots.Release(n) }, nil
}

const (
	// maxBatch is the largest number of addresses in a batch.
	maxBatch = 64
	// maxBody is the largest body of a request in bytes.
	maxBody = 1 << 20

	bodyStart   = `{"emails":[`
	bodyEnd     = `]`
	bodyDetails = `,"details":true`
	bodyPolicy  = `,"policy":`
	bodyRest    = len(bodyEnd+bodyDetails+bodyPolicy) + maxPolicyName + len(`""}`)
	// maxPolicyName is the length of the longest name of a policy, which needs no escapes.
	maxPolicyName = 64
)

// codeInvalid is the code of an address that cannot be sent.
const codeInvalid = "INVALID_EMAIL_FORMAT"

const (
	textNotUTF8 = "the address is not UTF-8, so it cannot be sent to the service; it is not valid"
	textTooLong = "the address is too long to be sent to the service; it is not valid"
)

// unsendable returns why the address cannot be in a body, or "". JSON text is
// UTF-8 (RFC 8259 section 8.1).
func unsendable(email string) string {
	switch {
	case !utf8.ValidString(email):
		return textNotUTF8
	case len(email) >= maxBody, len(bodyStart)+len(quoted(email))+bodyRest > maxBody:
		return textTooLong
	}
	return ""
}

// encodeBatch returns the body for as many of the emails, from the first, as one
// request may have: at least one.
func encodeBatch(emails []string, o Options) (n int, body []byte) {
	body = append(body, bodyStart...)
	for ; n < min(len(emails), maxBatch); n++ {
		next := quoted(emails[n])
		if n > 0 && len(body)+1+len(next)+bodyRest > maxBody {
			break
		}
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, next...)
	}
	body = append(body, bodyEnd...)
	if o.Details {
		body = append(body, bodyDetails...)
	}
	if o.Policy != "" {
		body = append(append(body, bodyPolicy...), quoted(o.Policy)...)
	}
	return n, append(body, '}')
}

// quoted returns the JSON string without escapes for HTML.
func quoted(s string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string never fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// An envelope is the response to a batch.
type envelope struct {
	Success, Partial bool
	Results          []struct {
		Email, Status string
		Result        json.RawMessage
		Error         struct{ Code, Message string }
	}
}

// readBatch verifies the response to a batch of these distinct emails and adds its
// items to found. A response has one item for each address in the order sent; a
// partial one, where work did not finish in time, has at least one.
func readBatch(body []byte, emails []string, o Options, found map[string]Item) error {
	var e envelope
	if json.Unmarshal(body, &e) != nil || !e.Success {
		return &badResponseError{"the response to the batch is not the JSON of one"}
	}
	if len(e.Results) > len(emails) || len(e.Results) == 0 || len(e.Results) < len(emails) && !e.Partial {
		return &badResponseError{"the response to the batch has another number of results than addresses were sent"}
	}
	items, at := make([]Item, len(e.Results)), 0
	for n, r := range e.Results {
		for at < len(emails) && emails[at] != r.Email {
			at++
		}
		if at == len(emails) {
			return &badResponseError{"the response to the batch has a result for an address that was not sent, or in another order"}
		}
		at++
		var err error
		if items[n], err = readItem(r.Status, r.Result, r.Error.Code, r.Error.Message, r.Email, o); err != nil {
			return err
		}
	}
	for n, r := range e.Results {
		found[r.Email] = items[n]
	}
	return nil
}

func readItem(status string, found json.RawMessage, code, message, email string, o Options) (Item, error) {
	switch {
	case status == "success":
		object, err := readResult(found, email, o)
		return Item{Result: object}, err
	case status == "error" && code != "":
		return Item{Code: sentence(code), Message: sentence(message)}, nil
	}
	return Item{}, &badResponseError{"the response to the batch has a result that is neither a success nor an error"}
}

// fields are the members of a result in the contract's order.
var fields = [16]string{"email", "valid", "normalized", "local_part", "alias", "ascii", "role", "gibberish",
	"gibberish_score", "domain", "mx", "disposable", "public", "relay", "typo", "typo_suggestion"}

var nullable = map[string]bool{"normalized": true, "local_part": true, "domain": true, "role": true, "typo_suggestion": true}

// readResult verifies a result and returns it on one line with the 16 fields in
// their order, details if they were asked for, and the verdict if a policy decided. The
// values keep their bytes, so the line is the same as that of any host. Other members are
// left out: a later version of the service may have more.
func readResult(object []byte, email string, o Options) ([]byte, error) {
	var members map[string]json.RawMessage
	r, err := result.Parse(object)
	if err != nil || json.Unmarshal(object, &members) != nil || r.Email != email {
		return nil, &badResponseError{"the result of an address is not one of the service, or of another address"}
	}
	line, names := bytes.NewBuffer(make([]byte, 0, len(object))), fields[:]
	if o.Details {
		names = append(names[:len(names):len(names)], "details")
	}
	for n, name := range names {
		value, ok := members[name]
		if !ok || string(value) == "null" && !nullable[name] {
			return nil, &badResponseError{"the result of an address lacks the member " + name}
		}
		line.WriteByte("{,"[min(n, 1)])
		line.WriteString(`"` + name + `":`)
		_ = json.Compact(line, value) // it is valid JSON, since members was decoded
	}
	switch {
	case r.Verdict.Action != "":
		writeVerdict(line, &r.Verdict)
	case o.Policy != "": // an earlier version of the service leaves the request's policy out
		return nil, &badResponseError{"the result of an address lacks the member verdict, though the request names a policy"}
	}
	line.WriteByte('}')
	return line.Bytes(), nil
}

// verdictMember begins the last member of a result. The name with its quotes cannot occur
// inside a string, where they would be escaped.
const verdictMember = `,"verdict":`

// writeVerdict writes the member verdict as every host does.
func writeVerdict(line *bytes.Buffer, v *result.Verdict) {
	line.WriteString(verdictMember + `{"action":`)
	line.Write(quoted(v.Action))
	for _, member := range [...]struct{ name, value string }{{"reason", v.Reason}, {"rule", v.Rule}} {
		line.WriteString(`,"` + member.name + `":`)
		if member.value == "" {
			line.WriteString("null")
			continue
		}
		line.Write(quoted(member.value))
	}
	line.WriteByte('}')
}

// A Usage is what an account has used and has left. A nil number is unlimited.
type Usage struct {
	Points struct {
		Used      int64
		Limit     *int64
		Remaining *int64
		Overage   bool // more than Limit may be used
		Refill    time.Time
	}
	Rate struct {
		Limit *int64 // requests a second
	}
	Policy string // the name of the key's default policy, "" for none
}

// Left returns the points that may still be used, and whether they are limited.
func (u *Usage) Left() (points int64, limited bool) {
	if u.Points.Remaining == nil || u.Points.Overage {
		return 0, false
	}
	return *u.Points.Remaining, true
}

// Usage returns the account's points and rate, at no cost. It also shows whether
// the service can be reached and knows the key.
func (c *Client) Usage(ctx context.Context) (u Usage, err error) {
	got, err := c.send(ctx, &request{method: http.MethodGet, path: "/v1/usage", patience: startPatience})
	if err != nil {
		return u, err
	}
	if json.Unmarshal(got.body, &u) != nil || u.Points.Refill.IsZero() || !mayBePolicyName(u.Policy) {
		return Usage{}, &badResponseError{"the response to GET /v1/usage is not the usage of an account"}
	}
	return u, nil
}

// mayBePolicyName reports whether a policy can have the name, or there is none. Another one must
// not get into a command line to go on with: it could change the terminal, or name a file.
func mayBePolicyName(name string) bool {
	return len(name) <= maxPolicyName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// withRefill adds to an outOfPointsError error when the points refill, and returns any
// other error as it is.
func (c *Client) withRefill(ctx context.Context, err error) error {
	out := asOutOfPoints(err)
	if out == nil {
		return err
	}
	if u, failed := c.Usage(ctx); failed == nil {
		out.Refill = u.Points.Refill
		out.Remaining, _ = u.Left()
	}
	return out
}
