package api

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// A request with a test key is free, and looks nothing up. Its addresses must be at
// testDomain, and what each gets depends on its local part only, by the table in
// testkeys.json, whatever the lists, the DNS and the account's points are. So the tests of a
// caller's program can have every result and every problem when they want it. The page
// /docs/testing has the table; a test compares them.
//
// The module decides what it decides by the address alone: whether it is valid, its normal
// form, alias and ascii. Everything else is the table's, also for the request's policy.

// testDomain has no MX records in DNS: with other keys it is a domain like any other. The
// top-level domain is reserved for tests (RFC 6761 section 6.2).
const testDomain = "addrspec.test"

const textTestDomain = "A test key takes addresses at " + testDomain + " only; the page /docs/testing of the service has the table of them and what they get."

//go:embed testkeys.json
var testKeysJSON []byte

// A testTable is what addresses get.
type testTable struct {
	Ordinary json.RawMessage // the members of every result that the table decides
	Rows     []testRow
}

// A testRow is what the addresses with a local part get.
type testRow struct {
	Local   string          // in lower case, without a tag
	Result  json.RawMessage // members that differ from the ordinary result
	Failure string          // of the address or of the request; empty for none
}

// The failures of the table. The first three are of the whole request, in order of precedence.
const (
	failRate       = "rate-limited"
	failPoints     = "points-used-up"
	failService    = "unavailable"
	failTimeout    = "dns-timeout"
	failLookup     = "dns-failure"
	failUnfinished = "unfinished"
)

// testTableOf is decoded when the first test key is used.
var testTableOf = sync.OnceValue(func() (t testTable) {
	if err := json.Unmarshal(testKeysJSON, &t); err != nil {
		panic(err) // the file is a part of the program
	}
	return t
})

// row returns the row of a normal form, or a row without a difference.
func (t *testTable) row(normalized string) testRow {
	local, _, _ := strings.Cut(normalized[:strings.LastIndexByte(normalized, '@')], "+")
	for _, row := range t.Rows {
		if row.Local == local {
			return row
		}
	}
	return testRow{}
}

// testJob is the work of a request with a test key. It has no price, so the pipeline neither
// claims nor charges anything. Where a charge would judge the key once more, it is read.
func testJob(work func(x *exchange, ctx context.Context) (outcome, *problem)) job {
	return job{work: func(x *exchange, ctx context.Context) (outcome, *problem) {
		decision, err := x.request.Inspect()
		if p := x.judge(decision, err, 0); p != nil {
			return outcome{}, p
		}
		ctx, cancel := x.workContext(ctx)
		defer cancel()
		return work(x, ctx)
	}}
}

// testSingle is the work of GET /v1/email/{email}.
func (x *exchange) testSingle(ctx context.Context, email string, details host.Flags) (outcome, *problem) {
	i, p := x.testItem(ctx, x.Engine.View(), email, details)
	switch {
	case p == nil && i.failure != "":
		p = x.testProblem(i.failure, 1)
	case p == nil && i.refusal != "":
		p = invalidFormat.with(sentence(i.refusal))
	}
	if p != nil {
		return outcome{}, p
	}
	return outcome{body: i.appendResult(nil)}, nil
}

// testBatch is the work of POST /v1/emails. The time that it reports is 0, so that a request
// always gets the same response.
func (x *exchange) testBatch(ctx context.Context, given *batchInput) (outcome, *problem) {
	items, failures, view := make([]item, len(given.emails)), map[string]bool{}, x.Engine.View()
	for n, email := range given.emails {
		i, p := x.testItem(ctx, view, email, given.details)
		if p != nil {
			return outcome{}, p
		}
		items[n], failures[i.failure] = i.item, true
	}
	for _, failure := range []string{failRate, failPoints, failService} {
		if failures[failure] {
			return outcome{}, x.testProblem(failure, int64(len(items)))
		}
	}
	finished := finishedItems(items)
	if len(finished) == 0 {
		return outcome{}, x.testProblem(failUnfinished, 0)
	}
	return outcome{body: appendBatch(nil, finished, len(items), 0, 0)}, nil
}

// A testItem is an address of a request with a test key.
type testItem struct {
	item
	failure string // of the table
	refusal string // why it is not valid; empty if it is
}

// testItem returns what an address gets.
func (x *exchange) testItem(ctx context.Context, view *host.View, email string, details host.Flags) (i testItem, p *problem) {
	facts, err := view.Check(ctx, nil, email, x.Flags|details)
	if err != nil {
		return i, x.moduleProblem(ctx, err)
	}
	if facts.Valid && facts.Host != testDomain {
		return i, invalidRequest.with(textTestDomain)
	}
	i = testItem{item: item{checked: true, facts: facts, lookup: lookup{finished: true}}, refusal: facts.Refusal.Sentence}
	subject := host.Subject{Facts: &facts, Found: host.Lookup{}.Found()}
	if facts.Valid {
		subject, err = i.set(ctx, view, x.Flags&host.FullSuggestion != 0, details != 0)
	}
	if err == nil && x.policy != nil && i.lookup.finished && i.lookup.err == nil {
		i.verdict, err = view.Verdict(ctx, nil, x.policy, subject)
	}
	if err != nil {
		return i, x.moduleProblem(ctx, err)
	}
	return i, nil
}

// set sets what the table has for a valid address, and returns what a policy needs of it.
func (i *testItem) set(ctx context.Context, view *host.View, fullSuggestion, details bool) (host.Subject, error) {
	var r testResult
	if err := json.Unmarshal(i.facts.JSON, &r); err != nil {
		return host.Subject{}, err
	}
	table := testTableOf()
	row := table.row(text(r.Normalized))
	r.merge(table.Ordinary)
	r.merge(row.Result)
	if fullSuggestion && string(r.TypoSuggestion) != "null" {
		r.TypoSuggestion = encode(text(r.LocalPart) + "@" + text(r.TypoSuggestion))
	}
	known, err := result.Parse(encode(&r))
	if err != nil {
		return host.Subject{}, err
	}
	if !known.Valid {
		i.refusal = known.Details.Refusal.Sentence
	}
	if i.failure = row.Failure; row.Failure != "" {
		i.lookup = testLookup(row.Failure)
		return host.Subject{}, nil
	}
	if !details {
		r.Details = nil
	}
	i.facts = fixedFacts(encode(&r), known.Valid)
	return known.Subject(testDomain), view.Resolve(ctx, &i.facts, host.Lookup{MX: known.MX})
}

// fixedFacts returns facts whose result is JSON, once they are resolved. They have no host, so
// nothing but mx depends on a lookup.
func fixedFacts(JSON []byte, valid bool) host.Facts {
	_, value, _ := bytes.Cut(JSON, []byte(`,"mx":`)) // which no string of JSON has: in it, quotes are escaped
	length := bytes.IndexByte(value, ',')
	email, _, _ := bytes.Cut(JSON[len(`{"email":`):], []byte(`,"valid":`))
	return host.Facts{JSON: JSON, Email: email, MX: host.Place{At: len(JSON) - len(value), Length: length}, Valid: valid}
}

// testLookup returns the lookup of an address that fails. One that fails the whole request is
// not looked at.
func testLookup(failure string) lookup {
	switch failure {
	case failTimeout:
		return lookup{finished: true, err: &mx.Error{Kind: mx.Timeout, Reason: mx.NoReply}}
	case failLookup:
		return lookup{finished: true, err: &mx.Error{Kind: mx.Failure, Reason: mx.Rcode}}
	}
	return lookup{}
}

// testProblem returns the problem of a request that fails, or of a single one whose lookup does.
// The month has a day to its refill, and the rate a second to its next token.
func (x *exchange) testProblem(failure string, required int64) *problem {
	switch failure {
	case failRate:
		return decisionProblem(ledger.Decision{Kind: ledger.RateLimited, RetryAfter: time.Second}, x.style, required)
	case failPoints:
		return decisionProblem(ledger.Decision{Kind: ledger.Insufficient, RetryAfter: 24 * time.Hour}, x.style, required)
	case failService:
		p := ledgerProblem(ledger.ErrUnavailable)
		p.retryAfter = time.Second // always the same
		return p
	case failUnfinished:
		return unfinishedProblem()
	}
	return lookupProblem(testLookup(failure).err)
}

// A testResult is a result whose members can be replaced. Their order is the contract's.
type testResult struct {
	Email          json.RawMessage `json:"email"`
	Valid          json.RawMessage `json:"valid"`
	Normalized     json.RawMessage `json:"normalized"`
	LocalPart      json.RawMessage `json:"local_part"`
	Alias          json.RawMessage `json:"alias"`
	ASCII          json.RawMessage `json:"ascii"`
	Role           json.RawMessage `json:"role"`
	Gibberish      json.RawMessage `json:"gibberish"`
	GibberishScore json.RawMessage `json:"gibberish_score"`
	Domain         json.RawMessage `json:"domain"`
	MX             json.RawMessage `json:"mx"`
	Disposable     json.RawMessage `json:"disposable"`
	Public         json.RawMessage `json:"public"`
	Relay          json.RawMessage `json:"relay"`
	Typo           json.RawMessage `json:"typo"`
	TypoSuggestion json.RawMessage `json:"typo_suggestion"`
	Details        *testDetails    `json:"details,omitempty"`
}

type testDetails struct {
	Refusal          json.RawMessage `json:"refusal"`
	Canonical        json.RawMessage `json:"canonical"`
	CanonicalRule    json.RawMessage `json:"canonical_rule"`
	RoleEvidence     json.RawMessage `json:"role_evidence"`
	ProviderEvidence json.RawMessage `json:"provider_evidence"`
	TypoEvidence     json.RawMessage `json:"typo_evidence"`
	Versions         json.RawMessage `json:"versions"`
	Form             json.RawMessage `json:"form"`
	Exchange         json.RawMessage `json:"exchange"`
}

// merge replaces the members that the table has.
func (r *testResult) merge(members json.RawMessage) {
	if len(members) > 0 {
		_ = json.Unmarshal(members, r) // a test reads all rows
	}
}

// text returns a JSON string's value, "" for null.
func text(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s) // the module wrote it
	return s
}
