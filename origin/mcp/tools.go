package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/result"
)

// Limits of a call.
const (
	maxAddresses = 64       // different or not
	maxAddress   = 4 << 10  // bytes; a longer one is never valid
	maxPolicy    = 64 << 10 // bytes of JSON; a longer one can be in the file of the command line
	callTimeout  = 3 * time.Minute
)

// Inputs.
type (
	emailInput struct {
		Email string `json:"email" jsonschema:"The address, without a name or angle brackets: jane@example.org."`
		policyInput
	}
	emailsInput struct {
		Emails []string `json:"emails" jsonschema:"1 to 64 addresses. Equal ones are checked once."`
		policyInput
	}
	policyInput struct {
		Policy json.RawMessage `json:"policy,omitempty"`
	}
)

// Outputs.
type (
	explanation struct {
		Result  facts   `json:"result" jsonschema:"The facts about the address."`
		Details details `json:"details" jsonschema:"The evidence for them."`
	}
	batch struct {
		Total   int    `json:"total" jsonschema:"The number of different addresses."`
		Valid   int    `json:"valid_count" jsonschema:"Well-formed ones."`
		Invalid int    `json:"invalid_count" jsonschema:"Those that are not."`
		Errors  int    `json:"error_count" jsonschema:"Those that could not be checked; try these again later."`
		Results []item `json:"results" jsonschema:"One for each different address, at its first position."`

		Verdicts map[string]int `json:"verdicts,omitempty" jsonschema:"How many addresses have the verdicts allow, review and block; only with a policy."`
	}
	item struct {
		Email  string     `json:"email" jsonschema:"The address as given."`
		Result *facts     `json:"result" jsonschema:"The facts; null if the address could not be checked."`
		Error  *itemError `json:"error" jsonschema:"Why the address could not be checked; null if it was. Nothing about the address follows from an error."`
	}
	itemError struct {
		Code    string `json:"code" jsonschema:"DNS_TIMEOUT or DNS_FAILURE: the domain's MX records could not be looked up."`
		Message string `json:"message" jsonschema:"The same in words."`
	}
)

// tools serves calls.
type tools struct {
	Options
	serving context.Context // ends with the server; the SDK does not cancel calls then
}

func (t *tools) addTo(s *sdk.Server) {
	add(s, t, "check_email", "Check an email address", textCheckEmail, textPolicy,
		func(ctx context.Context, r *sdk.CallToolRequest, in emailInput) (said *sdk.CallToolResult, f facts, err error) {
			said, err = t.one(ctx, r, false, in.Email, &f)
			return said, f, err
		})
	add(s, t, "check_emails", "Check up to 64 email addresses", textCheckEmails, textPolicyAgain, t.checkEmails)
	add(s, t, "explain", "Explain a result", textExplain, textPolicyAgain,
		func(ctx context.Context, r *sdk.CallToolRequest, in emailInput) (said *sdk.CallToolResult, e explanation, err error) {
			said, err = t.one(ctx, r, true, in.Email, &e.Result, &e)
			return said, e, err
		})
}

// add adds a tool. A call through a service costs points, so it is not read-only there: a client
// may ask its user first.
func add[In, Out any](s *sdk.Server, t *tools, name, title, text, policy string,
	call sdk.ToolHandlerFor[In, Out]) {
	in, inErr := jsonschema.For[In](nil)
	out, outErr := jsonschema.For[Out](nil)
	if err := cmp.Or(inErr, outErr); err != nil {
		panic(err) // a defect of the types
	}
	types := []string{"object", "null"}
	if t.Mode == Service {
		types = append(types, "string")
	}
	in.Properties["policy"] = &jsonschema.Schema{Types: types, Description: policy + modes[t.Mode].policy}
	if emails := in.Properties["emails"]; emails != nil {
		emails.Type, emails.Types = "array", nil // not null
		emails.MinItems, emails.MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(maxAddresses)
	}
	nested := out.Properties["result"]
	if list := out.Properties["results"]; list != nil {
		nested = list.Items.Properties["result"]
	}
	if nested != nil { // an assistant reads all schemas, so each description is there once
		nested.Description += " The fields are described at check_email."
		for _, field := range nested.Properties {
			field.Description = ""
			for _, member := range field.Properties {
				member.Description = ""
			}
		}
	}
	paid, open, no := t.Mode == Service, t.Mode != Offline, false
	sdk.AddTool(s, &sdk.Tool{Name: name, Title: title, Description: text + " " + modes[t.Mode].facts,
		InputSchema: in, OutputSchema: out, Annotations: &sdk.ToolAnnotations{Title: title,
			ReadOnlyHint: !paid, IdempotentHint: !paid, DestructiveHint: &no, OpenWorldHint: &open}}, call)
}

func (t *tools) checkEmails(ctx context.Context, r *sdk.CallToolRequest, in emailsInput) (
	*sdk.CallToolResult, batch, error) {
	var emails []string
	seen := map[string]bool{}
	for _, email := range in.Emails {
		if !seen[email] {
			seen[email] = true
			emails = append(emails, email)
		}
	}
	outcomes, err := t.check(ctx, r, false, emails)
	if err != nil {
		return nil, batch{}, err
	}
	b, lines := batch{Total: len(emails), Results: make([]item, len(emails))}, ""
	for n, o := range outcomes {
		if o.Code != "" {
			b.Errors++
			b.Results[n] = item{Email: emails[n], Error: &itemError{o.Code, o.Message}}
			lines += "\n" + quote(emails[n]) + ": not checked, " + o.Message
			continue
		}
		f := new(facts)
		text, err := read(&o, f)
		if err != nil {
			return nil, batch{}, err
		}
		b.Results[n] = item{Email: emails[n], Result: f}
		lines += "\n" + text
		if f.Valid {
			b.Valid++
		} else {
			b.Invalid++
		}
		if o.Verdict.Action != "" {
			if b.Verdicts == nil {
				b.Verdicts = map[string]int{result.Allow: 0, result.Review: 0, result.Block: 0}
			}
			b.Verdicts[o.Verdict.Action]++
		}
	}
	head := fmt.Sprintf("%s: %d valid, %d not valid, %d not checked.",
		words.Count(b.Total, "address"), b.Valid, b.Invalid, b.Errors)
	if v := b.Verdicts; v != nil {
		head += fmt.Sprintf(" Verdicts: %d allow, %d review, %d block.", v[result.Allow], v[result.Review], v[result.Block])
	}
	return says(head + lines), b, nil
}

// one checks one address, whose result it decodes into parts. An outcome without a result is an error.
func (t *tools) one(ctx context.Context, r *sdk.CallToolRequest, details bool, email string, parts ...any) (
	*sdk.CallToolResult, error) {
	outcomes, err := t.check(ctx, r, details, []string{email})
	if err != nil {
		return nil, err
	}
	o := outcomes[0]
	if o.Code != "" {
		return nil, fmt.Errorf("%s: %s. Nothing about the address follows from this; try again in a minute",
			o.Code, o.Message)
	}
	text, err := read(&o, parts...)
	return says(text), err
}

// read decodes a result into parts and returns it as a line.
func read(o *pipeline.Outcome, parts ...any) (string, error) {
	for _, part := range parts {
		if err := json.Unmarshal(o.JSON, part); err != nil {
			return "", err
		}
	}
	return line(o.JSON)
}

func (t *tools) check(ctx context.Context, r *sdk.CallToolRequest, details bool, emails []string) (
	[]pipeline.Outcome, error) {
	records := make([]pipeline.Record, len(emails))
	for n, email := range emails {
		switch {
		case len(email) > maxAddress:
			return nil, fmt.Errorf("address %d of %d has %d bytes; an address has at most 254, and an address with "+
				"more than %d is not checked: leave it out", n+1, len(emails), len(email), maxAddress)
		case !utf8.ValidString(email):
			return nil, fmt.Errorf("address %d of %d is not UTF-8", n+1, len(emails))
		}
		records[n].Email = email
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(t.serving, cancel)()
	q, err := t.query(r.Params.Arguments, details)
	var checker pipeline.Checker
	if err == nil {
		checker, err = t.Checker(ctx, q)
	}
	if err != nil {
		return nil, failed("policy", err)
	}
	outcomes := make([]pipeline.Outcome, len(emails))
	if err := checker.Check(ctx, records, outcomes); err != nil {
		return nil, failed("the check failed", err)
	}
	return outcomes, nil
}

// failed returns the error of a call: what failed and why, or the sentence of a problem of the
// service, unless a proxy without a sentence responded, or several attempts failed.
func failed(what string, err error) error {
	if problem, ok := err.(*client.Problem); ok && problem.Message != "" {
		return errors.New(problem.Message)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// query returns what a call wants to know. By the schema its policy is an object or null, with
// Service also a string. The policy is read as it was sent: the SDK has decoded its own input
// before, in which the last of members with the same name, an error in a policy, would decide.
func (t *tools) query(arguments []byte, details bool) (Query, error) {
	q := Query{Details: details}
	var in policyInput
	_ = json.Unmarshal(arguments, &in) // the SDK has validated it
	switch text := string(in.Policy); {
	case len(text) > maxPolicy:
		return q, fmt.Errorf("it has %d bytes, and in a call it may have %d; %s", len(text), maxPolicy, modes[t.Mode].longer)
	case strings.HasPrefix(text, "{"):
		q.Policy = text
	case strings.HasPrefix(text, `"`):
		return q, json.Unmarshal(in.Policy, &q.PolicyName)
	}
	return q, nil
}

func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
