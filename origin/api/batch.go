package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// batch is POST /v1/emails. It costs one point for each distinct address that
// was processed.
var batch = &operation{name: "batch", style: batchStyle, read: readBatch}

// maxUnique is the largest number of distinct addresses in a batch.
const maxUnique = 64

func readBatch(x *exchange, r *http.Request) (job, *problem) {
	body, p := x.readBody(r)
	if p != nil {
		return job{}, p
	}
	given, p := decodeLimited(r.Context(), body)
	if p == nil {
		p = x.loadPolicy(given.policy)
	}
	if p == nil {
		p = given.check()
	}
	if p != nil {
		return job{}, p
	}
	if err := x.reserveResults(r.Context(), &given); err != nil {
		return job{}, bodyProblem(err, len(body))
	}
	record, p := readIdempotencyKey(r.Header, x.request.Account(), body)
	if p != nil {
		return job{}, p
	}
	if x.request.Test() {
		return testJob(func(x *exchange, ctx context.Context) (outcome, *problem) { return x.testBatch(ctx, &given) }), nil
	}
	return job{price: int64(len(given.emails)), record: record, work: func(x *exchange, ctx context.Context) (outcome, *problem) {
		return x.finishBatch(ctx, x.start, &given)
	}}, nil
}

// decodeSlots limits how many long bodies are decoded at a time. One takes many
// milliseconds, and more decoders than processors would only delay other requests.
var decodeSlots = semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))

// longBody is the length in bytes from which a body needs a decode slot.
const longBody = 64 << 10

// decodeLimited calls decodeBatch, for a long body once a decode slot is free.
func decodeLimited(ctx context.Context, body []byte) (batchInput, *problem) {
	if len(body) >= longBody {
		if decodeSlots.Acquire(ctx, 1) != nil {
			return batchInput{}, unavailable("The request was cancelled before it was finished; nothing was charged.")
		}
		defer decodeSlots.Release(1)
	}
	return decodeBatch(body)
}

// check returns a problem unless the batch has 1 to maxUnique distinct addresses.
func (given *batchInput) check() *problem {
	switch {
	case given.exceeded:
		return sizeExceeded(given.received)
	case len(given.emails) == 0:
		return emptyBatch.with(`The batch has no addresses; send {"emails": ["jane@example.org"]}.`)
	}
	return nil
}

func sizeExceeded(received int) *problem {
	limit := maxUnique
	p := batchSizeExceeded.with(fmt.Sprintf("The batch has more than %d different addresses; send it in parts.", limit))
	p.extra = extra{MaxAllowed: &limit, Received: &received}
	return p
}

// finishBatch checks the addresses. Those not finished in time are neither
// reported nor charged.
func (x *exchange) finishBatch(ctx context.Context, start time.Time, given *batchInput) (outcome, *problem) {
	memory := &batchMemory{items: make([]item, len(given.emails))}
	defer memory.release()
	if err := x.checkAll(ctx, given, memory); err != nil {
		return outcome{}, x.workProblem(ctx, err)
	}
	finished := finishedItems(memory.items)
	body := appendBatch(x.responseRoom(envelopeSize(finished)), finished, len(memory.items), len(finished), time.Since(start))
	done := outcome{points: int64(len(finished)), body: body}
	for _, i := range finished {
		i.tally(&done.found)
	}
	return done, nil
}

// byteOrderMark may precede the JSON text; a parser may ignore it (RFC 8259
// section 8.1).
const byteOrderMark = "\uFEFF"

// batchInput is the content of a batch.
type batchInput struct {
	uniqueAddresses
	details host.Flags // host.Details if the batch asks for it
	policy  string     // the name of the policy that it asks for; "" for none
}

// decodeBatch decodes {"emails": [string, ...], "details": bool, "policy": string} and ignores other
// members. An empty body, null and "emails": null have no addresses. If a name
// occurs twice, the last one counts, as in JSON.parse.
func decodeBatch(body []byte) (batchInput, *problem) {
	text := bytes.TrimPrefix(body, []byte(byteOrderMark))
	if len(text) == 0 {
		return batchInput{}, nil
	}
	d := batchDecoder{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
	if err := d.readBody(); err != nil {
		return batchInput{}, notJSON(err, text, len(body)-len(text))
	}
	for _, wrong := range []string{d.wrong, d.wrongEmails, d.wrongDetails, d.wrongPolicy} {
		if wrong != "" {
			return batchInput{}, invalidRequest.with(wrong)
		}
	}
	d.seen, d.unquoted = nil, nil // the batch may wait for DNS
	return d.batchInput, nil
}

// A batchDecoder reads the whole body, so that a body that is not JSON is reported as
// such whatever is in it.
type batchDecoder struct {
	*jsontext.Decoder
	batchInput
	wrong                                  string // about the body's type; empty if it is right
	wrongEmails, wrongDetails, wrongPolicy string // likewise, about the last member of that name
}

// readBody reads the object or null, after which nothing may follow.
func (d *batchDecoder) readBody() (err error) {
	switch d.PeekKind() {
	case jsontext.KindBeginObject:
		err = d.readMembers()
	case jsontext.KindNull:
		err = d.SkipValue()
	default:
		d.wrong = `The body must be an object: {"emails": ["jane@example.org"]}.`
		err = d.SkipValue()
	}
	if err != nil {
		return err
	}
	if d.PeekKind() != jsontext.KindInvalid {
		d.wrong = "The body must be one JSON object with nothing after it."
		return nil
	}
	if _, err = d.ReadToken(); err == io.EOF {
		return nil
	}
	return err
}

func (d *batchDecoder) readMembers() error {
	_, err := d.ReadToken() // the brace
	for err == nil && d.PeekKind() == jsontext.KindString {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		switch name.String() {
		case "emails":
			err = d.readEmails()
		case "details":
			err = d.readDetails()
		case "policy":
			err = d.readPolicy()
		default:
			err = d.SkipValue()
		}
	}
	if err == nil {
		_, err = d.ReadToken() // the closing brace, or an error
	}
	return err
}

// readEmails reads an array of strings or null.
func (d *batchDecoder) readEmails() error {
	d.uniqueAddresses, d.wrongEmails = uniqueAddresses{}, ""
	switch d.PeekKind() {
	case jsontext.KindBeginArray:
	case jsontext.KindNull:
		return d.SkipValue()
	default:
		d.wrongEmails = "emails must be an array of strings."
		return d.SkipValue()
	}
	d.seen = make(map[string]bool, maxUnique)
	_, err := d.ReadToken() // the bracket
	for err == nil && d.PeekKind() != jsontext.KindEndArray {
		err = d.readEmail()
	}
	if err == nil {
		_, err = d.ReadToken() // the closing bracket
	}
	return err
}

func (d *batchDecoder) readEmail() error {
	if d.PeekKind() != jsontext.KindString && d.wrongEmails == "" {
		d.wrongEmails = fmt.Sprintf("emails[%d] must be a string.", d.received)
	}
	raw, err := d.ReadValue()
	if err == nil && d.wrongEmails == "" {
		d.add(raw)
	}
	return err
}

// readDetails reads a Boolean or null.
func (d *batchDecoder) readDetails() error {
	d.details, d.wrongDetails = 0, ""
	switch d.PeekKind() {
	case jsontext.KindTrue:
		d.details = host.Details
	case jsontext.KindFalse, jsontext.KindNull:
	default:
		d.wrongDetails = "details must be true or false."
	}
	return d.SkipValue()
}

// readPolicy reads the name of a policy or null.
func (d *batchDecoder) readPolicy() error {
	d.policy, d.wrongPolicy = "", ""
	switch d.PeekKind() {
	case jsontext.KindNull:
		return d.SkipValue()
	case jsontext.KindString:
		name, err := d.ReadToken()
		if err == nil {
			d.policy = name.String()
		}
		if ledger.CheckPolicyName(d.policy) != nil {
			d.wrongPolicy = textWrongName
		}
		return err
	}
	d.wrongPolicy = textWrongName
	return d.SkipValue()
}

const textWrongName = "policy must be the name of one of the account's policies: 1 to 64 of a-z, 0-9, - and _."

// uniqueAddresses has the distinct addresses of a batch in the order of their
// first positions, and the number of addresses sent. It stores at most
// maxUnique, so a body of many short strings takes little memory. Two addresses
// are the same only if they are equal byte for byte.
type uniqueAddresses struct {
	emails   []string
	seen     map[string]bool
	received int
	exceeded bool   // there are more than maxUnique
	unquoted []byte // the last address
}

// add adds the next string of the array, given as JSON text.
func (a *uniqueAddresses) add(raw jsontext.Value) {
	if a.received++; a.exceeded {
		return
	}
	a.unquoted, _ = jsontext.AppendUnquote(a.unquoted[:0], raw) // the decoder has checked it
	switch {
	case a.seen[string(a.unquoted)]: // the conversion does not allocate
	case len(a.emails) == maxUnique:
		a.exceeded = true
	default:
		email := string(a.unquoted)
		a.emails = append(a.emails, email)
		a.seen[email] = true
	}
}

// tooDeep is the decoder's error for JSON that is nested deeper than it reads. A parser
// may set such a limit (RFC 8259 section 9).
const tooDeep = "exceeded max depth"

// notJSON returns the problem that says where the text stops being JSON. It does not
// repeat the input. The text begins at byte start of the body.
func notJSON(err error, text []byte, start int) *problem {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalidRequest.with(fmt.Sprintf("The body is not JSON: it ends too early, at byte %d.", start+len(text)))
	}
	at := start + int(syntax.ByteOffset)
	if syntax.Err.Error() == tooDeep {
		return invalidRequest.with(fmt.Sprintf("The body is nested more than 10,000 deep, at byte %d; a batch needs an object and an array.", at))
	}
	what, wrong := "The body is not JSON: byte", text[syntax.ByteOffset:]
	if index, inEmails := strings.CutPrefix(string(syntax.JSONPointer), "/emails/"); inEmails && isDigits(index) {
		what = "emails[" + index + "] is not JSON: byte"
	}
	return invalidRequest.with(fmt.Sprintf("%s %d %s.", what, at, whyNotJSON(wrong)))
}

// whyNotJSON explains the first byte of wrong.
func whyNotJSON(wrong []byte) string {
	if r, size := utf8.DecodeRune(wrong); r == utf8.RuneError && size == 1 {
		return "is not UTF-8"
	}
	if wrong[0] == '\\' {
		return `begins an escape that is no character; of a surrogate pair (\ud800 to \udfff), send both halves, or the character itself`
	}
	return "is unexpected"
}

func isDigits(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// appendBatch appends to dst the response of a batch of total addresses with the
// finished items, which cost points. The module's JSON is copied and mx set in it; nothing is decoded
// or encoded again.
func appendBatch(dst []byte, finished []*item, total, points int, took time.Duration) []byte {
	c := countStatus(finished)
	dst = append(dst, `{"success":true,"partial":`...)
	dst = strconv.AppendBool(dst, len(finished) < total)
	dst = appendCount(dst, "total", len(finished))
	dst = appendCount(dst, "valid_count", c.valid)
	dst = appendCount(dst, "invalid_count", c.invalid)
	dst = appendCount(dst, "error_count", c.failed)
	dst = appendCount(dst, "usage_points", points)
	dst = appendCount(dst, "processing_time_ms", int(took.Milliseconds()))
	dst = append(dst, `,"results":[`...)
	for n, i := range finished {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = i.append(dst)
	}
	return append(dst, `]}`...)
}

// envelopeSize estimates the size of the response in bytes.
func envelopeSize(items []*item) int {
	size := 256
	for _, i := range items {
		size += len(i.facts.JSON) + len(i.facts.Email) + len(i.verdict) + 64
	}
	return size
}

func appendCount(dst []byte, name string, n int) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// statusCounts counts the finished items of a batch by outcome.
type statusCounts struct{ valid, invalid, failed int }

func countStatus(items []*item) (c statusCounts) {
	for _, i := range items {
		switch {
		case i.lookup.err != nil:
			c.failed++
		case i.facts.Valid:
			c.valid++
		default:
			c.invalid++
		}
	}
	return c
}

// append appends the JSON of one batch item.
func (i *item) append(dst []byte) []byte {
	dst = append(append(dst, `{"email":`...), i.facts.Email...)
	if i.lookup.err != nil {
		return append(i.appendError(append(dst, `,"status":"error","result":null,"error":`...)), '}')
	}
	dst = i.appendResult(append(dst, `,"status":"success","result":`...))
	return append(dst, `,"error":null}`...)
}

func (i *item) appendResult(dst []byte) []byte {
	dst = i.facts.AppendResult(dst)
	if i.verdict != nil {
		dst = host.AppendVerdict(dst, i.verdict)
	}
	return dst
}

// appendError appends the error object. The domain in it is in A-label form and
// needs no escaping.
func (i *item) appendError(dst []byte) []byte {
	code, message := mx.ItemError(i.lookup.err, i.facts.Host)
	dst = append(append(dst, `{"code":"`...), code...)
	dst = append(append(dst, `","message":"`...), message...)
	return append(dst, `"}`...)
}
