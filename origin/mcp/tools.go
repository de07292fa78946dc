package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check"
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

		Verdicts *verdictCounts `json:"verdicts,omitempty" jsonschema:"How many addresses have which verdict; only with a policy."`
	}
	verdictCounts struct {
		Allow  int `json:"allow"`
		Review int `json:"review"`
		Block  int `json:"block"`
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

func addTools(s *sdk.Server, t *tools) {
	one := t.describe("check_email", "Check an email address", textCheckEmail)
	one.InputSchema = inputSchema[emailInput](t.Mode, textPolicy)
	sdk.AddTool(s, one, t.checkEmail)
	many := t.describe("check_emails", "Check up to 64 email addresses", textCheckEmails)
	many.InputSchema, many.OutputSchema = emailsSchema(t.Mode), batchSchema()
	sdk.AddTool(s, many, t.checkEmails)
	why := t.describe("explain", "Explain a result", textExplain)
	why.InputSchema, why.OutputSchema = inputSchema[emailInput](t.Mode, textPolicyAgain), explanationSchema()
	sdk.AddTool(s, why, t.explain)
}

// describe returns a tool without its schemas. A call through a service costs
// points, so it is not read-only there: a client may ask its user first.
func (t *tools) describe(name, title, text string) *sdk.Tool {
	paid, open, no := t.Mode == Service, t.Mode != Offline, false
	return &sdk.Tool{Name: name, Title: title, Description: text + " " + modeTexts[t.Mode], Annotations: &sdk.ToolAnnotations{
		Title: title, ReadOnlyHint: !paid, IdempotentHint: !paid, DestructiveHint: &no, OpenWorldHint: &open,
	}}
}

func (t *tools) checkEmail(ctx context.Context, r *sdk.CallToolRequest, in emailInput) (*sdk.CallToolResult, facts, error) {
	o, err := t.one(ctx, policyOf(r), false, in.Email)
	if err != nil {
		return nil, facts{}, err
	}
	f, err := factsOfOutcome(&o)
	return says(summary(&f)), f, err
}

func (t *tools) explain(ctx context.Context, r *sdk.CallToolRequest, in emailInput) (*sdk.CallToolResult, explanation, error) {
	o, err := t.one(ctx, policyOf(r), true, in.Email)
	if err != nil {
		return nil, explanation{}, err
	}
	f, err := factsOfOutcome(&o)
	if err != nil {
		return nil, explanation{}, err
	}
	why, err := detailsOf(o.JSON)
	return says(summary(&f) + why.text()), explanation{f, why}, err
}

func (t *tools) checkEmails(ctx context.Context, r *sdk.CallToolRequest, in emailsInput) (*sdk.CallToolResult, batch, error) {
	emails := distinct(in.Emails)
	outcomes, err := t.check(ctx, policyOf(r), false, emails)
	if err != nil {
		return nil, batch{}, err
	}
	b, lines := batch{Total: len(emails)}, make([]string, 0, len(emails)+1)
	for n := range outcomes {
		i, line, err := itemOf(emails[n], &outcomes[n])
		if err != nil {
			return nil, batch{}, err
		}
		b.add(i)
		lines = append(lines, line)
	}
	head := fmt.Sprintf("%s: %d valid, %d not valid, %d not checked.", words.Count(b.Total, "address"), b.Valid, b.Invalid, b.Errors)
	if v := b.Verdicts; v != nil {
		head += fmt.Sprintf(" Verdicts: %d allow, %d review, %d block.", v.Allow, v.Review, v.Block)
	}
	return says(head + "\n" + strings.Join(lines, "\n")), b, nil
}

func (b *batch) add(i item) {
	switch {
	case i.Error != nil:
		b.Errors++
	case i.Result.Valid:
		b.Valid++
	default:
		b.Invalid++
	}
	if i.Result != nil && i.Result.Verdict != nil {
		b.count(i.Result.Verdict.Action)
	}
	b.Results = append(b.Results, i)
}

func (b *batch) count(action string) {
	if b.Verdicts == nil {
		b.Verdicts = new(verdictCounts)
	}
	switch action {
	case result.Allow:
		b.Verdicts.Allow++
	case result.Review:
		b.Verdicts.Review++
	case result.Block:
		b.Verdicts.Block++
	}
}

func itemOf(email string, o *check.Outcome) (i item, line string, err error) {
	if o.Code != "" {
		return item{Email: email, Error: &itemError{o.Code, o.Message}}, quote(email) + ": not checked, " + o.Message, nil
	}
	f, err := factsOfOutcome(o)
	return item{Email: email, Result: &f}, summary(&f), err
}

// distinct returns the addresses, each at its first position.
func distinct(emails []string) (list []string) {
	seen := make(map[string]bool, len(emails))
	for _, email := range emails {
		if !seen[email] {
			seen[email] = true
			list = append(list, email)
		}
	}
	return list
}

// one checks one address. An outcome without a result is an error.
func (t *tools) one(ctx context.Context, p policyInput, details bool, email string) (check.Outcome, error) {
	outcomes, err := t.check(ctx, p, details, []string{email})
	if err != nil {
		return check.Outcome{}, err
	}
	if o := outcomes[0]; o.Code != "" {
		return o, fmt.Errorf("%s: %s. Nothing about the address follows from this; try again in a minute", o.Code, o.Message)
	}
	return outcomes[0], nil
}

func (t *tools) check(ctx context.Context, p policyInput, details bool, emails []string) ([]check.Outcome, error) {
	records := make([]check.Record, len(emails))
	for n, email := range emails {
		switch {
		case len(email) > maxAddress:
			return nil, fmt.Errorf("address %d of %d has %d bytes; an address has at most 254, and none over %d is checked: leave it out", n+1, len(emails), len(email), maxAddress)
		case !utf8.ValidString(email):
			return nil, fmt.Errorf("address %d of %d is not UTF-8", n+1, len(emails))
		}
		records[n].Email = email
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(t.serving, cancel)()
	checker, err := t.checker(ctx, p, details)
	if err != nil {
		return nil, failed("policy", err)
	}
	outcomes := make([]check.Outcome, len(emails))
	if err := checker.Check(ctx, records, outcomes); err != nil {
		return nil, failed("the check failed", err)
	}
	return outcomes, nil
}

// A sentence is the whole error of a call.
type sentence string

// Error returns the sentence.
func (s sentence) Error() string { return string(s) }

// failed returns the error of a call: what failed and why.
func failed(what string, err error) error {
	if whole, ok := errors.AsType[sentence](err); ok {
		return whole
	}
	return fmt.Errorf("%s: %w", what, err)
}

// policyOf returns the policy of a call as it was sent. The input that the SDK passes was decoded
// before, so that of members with the same name, an error in a policy, the last would decide.
func policyOf(r *sdk.CallToolRequest) (p policyInput) {
	_ = json.Unmarshal(r.Params.Arguments, &p) // the SDK has validated it
	return p
}

// checker returns what checks the addresses of a call with this policy. By the schema it is
// an object or null, with Service also a string.
func (t *tools) checker(ctx context.Context, p policyInput, details bool) (check.Checker, error) {
	q := Query{Details: details}
	switch text := string(p.Policy); {
	case len(text) > maxPolicy:
		return nil, fmt.Errorf("it has %d bytes, and in a call it may have %d; %s", len(text), maxPolicy, longPolicy[t.Mode])
	case strings.HasPrefix(text, "{"):
		q.Policy = text
	case strings.HasPrefix(text, `"`):
		if err := json.Unmarshal(p.Policy, &q.PolicyName); err != nil {
			return nil, err
		}
	}
	return t.Checker(ctx, q)
}

func factsOfOutcome(o *check.Outcome) (facts, error) {
	r, err := result.Parse(o.JSON)
	var mx *bool
	if !r.MXNull {
		mx = &r.MX
	}
	return factsOf(&r, mx), err
}

func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// inputSchema returns the schema of an input, with a description of its policy.
func inputSchema[T any](m Mode, text string) *jsonschema.Schema {
	schema := schemaOf[T]()
	types := []string{"object", "null"}
	if m == Service {
		types = append(types, "string")
	}
	schema.Properties["policy"] = &jsonschema.Schema{Types: types, Description: text + policyTexts[m]}
	return schema
}

// emailsSchema returns the schema of emailsInput with the limits of its array.
func emailsSchema(m Mode) *jsonschema.Schema {
	schema := inputSchema[emailsInput](m, textPolicyAgain)
	emails := schema.Properties["emails"]
	emails.Type, emails.Types = "array", nil // not null
	emails.MinItems, emails.MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(maxAddresses)
	return schema
}

// batchSchema returns the schema of batch.
func batchSchema() *jsonschema.Schema {
	schema := schemaOf[batch]()
	shorten(schema.Properties["results"].Items.Properties["result"])
	return schema
}

// explanationSchema returns the schema of explanation.
func explanationSchema() *jsonschema.Schema {
	schema := schemaOf[explanation]()
	shorten(schema.Properties["result"])
	return schema
}

// shorten replaces the descriptions of facts, which an assistant reads with
// check_email: all schemas take part of the text that it can keep in mind.
func shorten(facts *jsonschema.Schema) {
	facts.Description += " The fields are described at check_email."
	for _, field := range facts.Properties {
		field.Description = ""
		for _, member := range field.Properties {
			member.Description = ""
		}
	}
}

func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a defect of the type
	}
	return schema
}
