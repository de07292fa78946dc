package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/wasm/result"
)

// A Checker checks records through a service, for one run or one call: after the first error it sends nothing more,
// since what comes after would be charged for nothing. Its runs should have chunks of [MaxBatch] and [Concurrency]
// workers.
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
	MaxBatch = 64     // addresses in a batch; a run that stops after chunks of as many has written whole batches
	maxText  = 16_000 // bytes of an address in JSON; 64 of these are less than the longest request, 1 MiB

	// scarcePoints is the number of points left from which batches are sent one at a time. Those that are in flight
	// could use them up, so that a batch is refused while one after it gets its response and is charged, but not
	// written.
	scarcePoints = 2 * Concurrency * MaxBatch
)

// What is known of addresses that the service did not check. They cost nothing.
var (
	notUTF8 = pipeline.Outcome{Code: "INVALID_EMAIL_FORMAT",
		Message: "the address is not UTF-8, so it cannot be sent to the service; it is not valid"}
	tooLong = pipeline.Outcome{Code: "INVALID_EMAIL_FORMAT",
		Message: "the address is too long to be sent to the service; it is not valid"}
	unfinished = pipeline.Outcome{Code: "REQUEST_CANCELLED",
		Message: "the batch ran out of time before this address; it was not charged, try it again"}
)

// Check sends the addresses of the records with POST /v1/emails and sets their outcomes. Equal addresses are sent
// once. More than fit one request are sent in several, one after the other, and so is what a partial response leaves.
func (c *Checker) Check(ctx context.Context, records []pipeline.Record, outcomes []pipeline.Outcome) error {
	found, rest := make(map[string]*pipeline.Outcome, len(records)), make([]string, 0, len(records))
	for _, r := range records {
		if r.Err != nil || found[r.Email] != nil {
			continue
		}
		text, err := jsontext.AppendQuote(nil, r.Email)
		switch {
		case err != nil: // JSON text is UTF-8 (RFC 8259 section 8.1)
			found[r.Email] = &notUTF8
		case len(text) > maxText:
			found[r.Email] = &tooLong
		default:
			found[r.Email], rest = &unfinished, append(rest, r.Email)
		}
	}
	for len(rest) > 0 {
		got, err := c.batch(ctx, rest[:min(len(rest), MaxBatch)])
		if err != nil {
			return err
		}
		maps.Copy(found, got)
		rest = slices.DeleteFunc(rest, func(email string) bool { return got[email] != nil })
		if c.Client.Once {
			break
		}
	}
	for n, r := range records {
		if r.Err == nil {
			outcomes[n] = *found[r.Email]
		}
	}
	if c.Decider == nil {
		return nil
	}
	return c.Decider.Decide(ctx, outcomes)
}

func (c *Checker) asksDetails() bool { return c.Details || c.Reasons || c.Decider != nil }

func (c *Checker) batch(ctx context.Context, emails []string) (map[string]*pipeline.Outcome, error) {
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
	var found map[string]*pipeline.Outcome
	text, err := c.Client.send(ctx, "v1/emails", body, patience)
	if err == nil {
		found, err = c.readBatch(text, emails)
	}
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
	}
	return found, err
}

// anyCase refuses what readers could understand differently: members with the same name, also in another case, and
// text that is not UTF-8.
var anyCase = json.MatchCaseInsensitiveNames(true)

func badResponse(what string) error {
	return errors.New(what + "; check that the URL is that of an addrspec service, " +
		"and that no proxy between changes its responses")
}

// readBatch verifies the response to a batch and returns its findings. It has one for each address in the order sent;
// a partial one, where work did not finish in time, has at least one.
func (c *Checker) readBatch(text []byte, emails []string) (map[string]*pipeline.Outcome, error) {
	var batch struct {
		Success, Partial bool
		Results          []struct {
			Email, Status string
			Result        jsontext.Value
			Error         struct{ Code, Message string }
		}
	}
	if json.Unmarshal(text, &batch, anyCase) != nil || !batch.Success {
		return nil, badResponse("the response to the batch is not the JSON of one")
	}
	if count := len(batch.Results); count == 0 || count < len(emails) && !batch.Partial {
		return nil, badResponse("the response to the batch has fewer results than addresses were sent")
	}
	found := make(map[string]*pipeline.Outcome, len(emails))
	for _, r := range batch.Results {
		at := slices.Index(emails, r.Email)
		if at < 0 {
			return nil, badResponse("the response to the batch has a result for an address that was not sent, " +
				"or in another order")
		}
		emails = emails[at+1:]
		switch {
		case r.Status == "success":
			f, err := c.readResult(r.Result, r.Email)
			if err != nil {
				return nil, err
			}
			found[r.Email] = f
		case r.Status == "error" && isCode(r.Error.Code):
			found[r.Email] = &pipeline.Outcome{Code: r.Error.Code, Message: sentence(r.Error.Message)}
		default:
			return nil, badResponse("the response to the batch has a result that is neither a success nor an error")
		}
	}
	return found, nil
}

var nullable = []result.Field{result.Normalized, result.LocalPart, result.Domain, result.Role,
	result.TypoSuggestion}

// readResult verifies a result. The JSON of its outcome is one line with the 16 fields in their order, and details
// and verdict if they are wanted. The values keep their bytes, so the line is the same as that of any host. Other
// members are left out: a later version of the service may have more.
func (c *Checker) readResult(object jsontext.Value, email string) (*pipeline.Outcome, error) {
	var r result.Result
	var more struct {
		Details jsontext.Value `json:"details"`
		Verdict jsontext.Value `json:"verdict"`
	}
	wrong := cmp.Or(object.Compact(), json.Unmarshal(object, &r), json.Unmarshal(object, &more))
	values, err := result.Split(object)
	var line []byte
	for n, value := range values {
		if string(value) == "null" && !slices.Contains(nullable, result.Field(n)) {
			return nil, badResponse("the result of an address lacks the member " + result.Names[n])
		}
		line = fmt.Appendf(line, ",%q:%s", result.Names[n], value)
	}
	line[0] = '{'
	switch {
	case cmp.Or(wrong, err) != nil || r.Email != email:
		return nil, badResponse("the result of an address is not one of the service, or of another address")
	case c.asksDetails() && r.Details == nil:
		return nil, badResponse("the result of an address lacks the member details")
	case c.Policy != "" && r.Verdict.Action == "": // an earlier version of the service ignores the policy
		return nil, badResponse("the result of an address lacks the member verdict, " +
			"though the request names a policy")
	case !isSafe(bytes.Join(append(values[:], more.Details, more.Verdict), []byte(" ")), email):
		return nil, badResponse("the result of an address has characters that no result has")
	}
	if c.Details {
		line = fmt.Appendf(line, `,"details":%s`, more.Details)
	}
	if c.Plain || c.Decider != nil {
		r.Verdict = result.Verdict{}
	}
	if r.Verdict.Action != "" {
		line = fmt.Appendf(line, `,"verdict":%s`, more.Verdict)
	}
	line = append(line, '}')
	o := &pipeline.Outcome{JSON: slices.Clip(line), Flags: r.Flags(), Verdict: r.Verdict, Reported: &r,
		NoMX: r.Valid && !r.MX} // the domain of one that is not valid is not looked up
	if r.Details != nil && r.Details.Refusal != nil {
		o.Refusal = *r.Details.Refusal
	}
	return o, nil
}

// isSafe reports whether no string of a result's values can control a terminal or be a formula, unless the address
// itself has these characters.
func isSafe(values []byte, email string) bool {
	address := fold(email)
	for decoder := jsontext.NewDecoder(bytes.NewReader(values)); ; {
		token, err := decoder.ReadToken()
		if err != nil {
			return true // the end: the values were decoded before
		}
		text := token.String()
		// A single character, such as the hyphen of a misspelling, is no formula.
		plain := output.Printable(text) == text && (utf8.RuneCountInString(text) < 2 || output.Formula(text) == text)
		if token.Kind() != '"' || plain {
			continue
		}
		// A normalized or canonical address has fewer characters, such as no quotes and dots, a suggested one another
		// domain.
		rest := address
		for _, r := range withoutDomain.ReplaceAllString(fold(text), "$1") {
			_, after, found := strings.Cut(rest, string(r))
			if !found {
				return false
			}
			rest = after
		}
	}
}

var withoutDomain = regexp.MustCompile(`(?s)^(.+)@[\pL\pM\pN.-]+$`)

func fold(text string) string { return strings.ToLower(norm.NFC.String(text)) }
