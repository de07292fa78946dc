package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// maxUnique is the largest number of distinct addresses in a batch.
const maxUnique = 64

// batchBody is the body of a batch.
var batchBody = wire.Body{
	Limit:   1 << 20,
	TooLong: "The body is over 1 MiB; send fewer addresses at a time.",
	NotJSON: "Send the batch as JSON, with the header Content-Type: application/json.",
}

// batch is POST /v1/emails. It costs one point for each distinct address that was processed.
func batch(x *exchange, r *http.Request) (none wire.Response, p *wire.Problem) {
	body, p := x.readBody(r, batchBody)
	if p != nil {
		return none, p
	}
	given, p := decodeBatch(body)
	if p != nil {
		return none, p
	}
	c, p := x.newCheck(len(given.emails), given.options)
	if p != nil {
		return none, p
	}
	if p := given.check(); p != nil {
		return none, p
	}
	if p := x.memory.take(r.Context(), c.resultMemory(given.emails, len(body))); p != nil {
		return none, p
	}
	once, p := readRecord(r.Header, x.request.Account(), body)
	if p != nil {
		return none, p
	}
	stored, replayed, p := x.claim(int64(len(given.emails)), once)
	if p != nil || replayed {
		return stored, p
	}
	return c.batch(given.emails)
}

// readBody reads the body, for which it takes memory.
func (x *exchange) readBody(r *http.Request, of wire.Body) ([]byte, *wire.Problem) {
	return of.Read(r, func(bytes int) *wire.Problem { return x.memory.grow(r.Context(), bytes) })
}

// resultMemory returns what the addresses of a batch hold until the response is sent, besides the body, in bytes.
func (c *check) resultMemory(emails []string, body int) int {
	each := addressMemory
	if c.flags&host.Details != 0 {
		each += detailsMemory
	}
	if c.policy != nil {
		each += verdictMemory
	}
	size := bodyFactor*body + len(emails)*each
	for _, email := range emails {
		size += validFactor * min(len(email), longestValid)
	}
	return size
}

// batch does the work of a batch. Addresses that are not finished in time are neither reported nor charged.
func (c *check) batch(emails []string) (none wire.Response, p *wire.Problem) {
	ctx := c.request.Context()
	work, cancel := c.workContext(ctx)
	defer cancel()
	if err := c.run(work, emails); err != nil {
		return none, c.moduleProblem(ctx, err)
	}
	test := c.request.Test()
	if test {
		p = c.useTable()
	} else {
		p = c.lookUp(work)
	}
	if p != nil {
		return none, p
	}
	ctx, stop := context.WithTimeout(ctx, resolveTime)
	defer stop()
	if err := c.decide(ctx); err != nil {
		return none, c.moduleProblem(ctx, err)
	}
	finished := c.finished()
	points, took := int64(len(finished)), time.Since(c.start)
	if test { // whose response is always the same
		points, took = 0, 0
	}
	return c.charge(int64(len(finished)), foundIn(finished), c.response(finished, points, took))
}

// A batchInput is the content of a batch.
type batchInput struct {
	uniqueAddresses
	options wire.Options
}

// check returns a problem unless the batch has 1 to maxUnique distinct addresses.
func (given *batchInput) check() *wire.Problem {
	switch {
	case given.exceeded:
		limit := maxUnique
		p := wire.BatchSizeExceeded.With(fmt.Sprintf("The batch has more than %d different addresses; send it in parts.", limit))
		p.Extra = wire.Extra{MaxAllowed: &limit, Received: &given.received}
		return p
	case len(given.emails) == 0:
		return wire.EmptyBatch.With(`The batch has no addresses; send {"emails": ["jane@example.org"]}.`)
	}
	return nil
}

// byteOrderMark may precede the JSON text; a parser may ignore it (RFC 8259 section 8.1).
const byteOrderMark = "\uFEFF"

// decodeBatch decodes {"emails": [string, ...], "details": bool, "policy": string} and ignores other
// members. An empty body, null and "emails": null have no addresses. If a name occurs twice, the last
// member counts, as in JSON.parse. The whole body is read, so that a body that is not JSON is reported as
// such whatever is in it.
func decodeBatch(body []byte) (given batchInput, p *wire.Problem) {
	text := bytes.TrimPrefix(body, []byte(byteOrderMark))
	if len(text) == 0 {
		return given, nil
	}
	var members struct {
		Emails  uniqueAddresses `json:"emails"`
		Details jsontext.Value  `json:"details"`
		Policy  jsontext.Value  `json:"policy"`
	}
	wrong := ""
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	var err error
	switch d.PeekKind() {
	case jsontext.KindBeginObject, jsontext.KindNull:
		err = jsonv2.UnmarshalDecode(d, &members)
	default:
		wrong, err = `The body must be an object: {"emails": ["jane@example.org"]}.`, d.SkipValue()
		if err == io.EOF { // white space only
			err = io.ErrUnexpectedEOF
		}
	}
	if err == nil && d.PeekKind() != jsontext.KindInvalid {
		wrong = "The body must be one JSON object with nothing after it."
	} else if err == nil {
		_, err = d.ReadToken() // io.EOF, or why what follows is not JSON
	}
	if err != nil && err != io.EOF {
		return given, notJSON(err, text, len(body)-len(text))
	}
	given.uniqueAddresses = members.Emails
	details, policy := string(members.Details), string(members.Policy)
	switch {
	case wrong != "":
	case members.Emails.wrong != "":
		wrong = members.Emails.wrong
	case details != "" && details != "true" && details != "false" && details != "null":
		wrong = "details must be true or false."
	case policy != "" && policy != "null":
		if json.Unmarshal(members.Policy, &given.options.Policy) != nil || book.CheckPolicyName(given.options.Policy) != nil {
			wrong = "policy must be the name of one of the account's policies: 1 to 64 of a-z, 0-9, - and _."
		}
	}
	if wrong != "" {
		return batchInput{}, wire.InvalidRequest.With(wrong)
	}
	given.options.Details = details == "true"
	return given, nil
}

// uniqueAddresses has the distinct addresses of a batch in the order of their first positions, and the
// number of addresses sent. It stores at most maxUnique, so a body of many short strings takes little
// memory. Two addresses are the same only if they are equal byte for byte.
type uniqueAddresses struct {
	emails   []string
	received int
	exceeded bool   // there are more than maxUnique
	wrong    string // about the type of the member or an element; "" if it is right
}

// UnmarshalJSONFrom reads an array of strings or null.
func (a *uniqueAddresses) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*a = uniqueAddresses{}
	switch d.PeekKind() {
	case jsontext.KindBeginArray:
	case jsontext.KindNull:
		return d.SkipValue()
	default:
		a.wrong = "emails must be an array of strings."
		return d.SkipValue()
	}
	seen, unquoted := make(map[string]bool, maxUnique), []byte(nil)
	_, err := d.ReadToken() // the bracket
	for ; err == nil && d.PeekKind() != jsontext.KindEndArray; a.received++ {
		if d.PeekKind() != jsontext.KindString && a.wrong == "" {
			a.wrong = fmt.Sprintf("emails[%d] must be a string.", a.received)
		}
		var raw jsontext.Value
		raw, err = d.ReadValue()
		if err != nil || a.wrong != "" || a.exceeded {
			continue
		}
		unquoted, _ = jsontext.AppendUnquote(unquoted[:0], raw) // the decoder has checked it
		switch {
		case seen[string(unquoted)]: // the conversion does not allocate
		case len(a.emails) == maxUnique:
			a.exceeded = true
		default:
			email := string(unquoted)
			a.emails = append(a.emails, email)
			seen[email] = true
		}
	}
	if err == nil {
		_, err = d.ReadToken() // the closing bracket
	}
	return err
}

// tooDeep is the decoder's error for JSON that is nested deeper than it reads. A parser may set such a
// limit (RFC 8259 section 9).
const tooDeep = "exceeded max depth"

// notJSON returns the problem that says where the text stops being JSON. It does not repeat the input.
// The text begins at byte start of the body.
func notJSON(err error, text []byte, start int) *wire.Problem {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return wire.InvalidRequest.With(fmt.Sprintf("The body is not JSON: it ends too early, at byte %d.", start+len(text)))
	}
	at := start + int(syntax.ByteOffset)
	if syntax.Err.Error() == tooDeep {
		return wire.InvalidRequest.With(fmt.Sprintf("The body is nested more than 10,000 deep, at byte %d; "+
			"a batch needs an object and an array.", at))
	}
	what, wrong, why := "The body is not JSON: byte", text[syntax.ByteOffset:], "is unexpected"
	if index, inEmails := strings.CutPrefix(string(syntax.JSONPointer), "/emails/"); inEmails {
		if _, err := strconv.ParseUint(index, 10, 32); err == nil {
			what = "emails[" + index + "] is not JSON: byte"
		}
	}
	if r, size := utf8.DecodeRune(wrong); r == utf8.RuneError && size == 1 {
		why = "is not UTF-8"
	} else if wrong[0] == '\\' {
		why = `begins an escape that is no character; of a surrogate pair (\ud800 to \udfff), send both halves, ` +
			`or the character itself`
	}
	return wire.InvalidRequest.With(fmt.Sprintf("%s %d %s.", what, at, why))
}

// response returns the response of a batch with the finished items. The module's JSON is copied and mx set
// in it; nothing is decoded or encoded again.
func (c *check) response(finished []*item, points int64, took time.Duration) []byte {
	var valid, invalid, failed int
	size := 256
	for _, i := range finished {
		size += len(i.facts.JSON) + len(i.facts.Email) + len(i.verdict) + 64
		switch {
		case i.lookup.err != nil:
			failed++
		case i.facts.Valid:
			valid++
		default:
			invalid++
		}
	}
	out := fmt.Appendf(c.memory.buffer(size), `{"success":true,"partial":%t,"total":%d,"valid_count":%d,"invalid_count":%d,`+
		`"error_count":%d,"usage_points":%d,"processing_time_ms":%d,"results":[`,
		len(finished) < len(c.items), len(finished), valid, invalid, failed, points, took.Milliseconds())
	for n, i := range finished {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"email":`...), i.facts.Email...)
		if i.lookup.err != nil { // the domain in the message is in A-label form and needs no escaping
			code, message := mx.ItemError(i.lookup.err, i.facts.Host)
			out = fmt.Appendf(out, `,"status":"error","result":null,"error":{"code":"%s","message":"%s"}}`, code, message)
			continue
		}
		out = i.appendResult(append(out, `,"status":"success","result":`...))
		out = append(out, `,"error":null}`...)
	}
	return append(out, `]}`...)
}
