package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// A request with a test key is free. It runs the same operations, with the table of testkeys.json in
// place of lists, model and DNS: its addresses must be at testDomain, and what an address gets depends on
// its local part only. So the tests of a caller's program can have every result and every problem when
// they want it. The page /docs/testing has the table; a test compares them.
//
// The module decides what it decides by the address alone: whether it is valid, its normal form, alias
// and ascii. Everything else is the table's, also for the request's policy.

// testDomain has no MX records in DNS: with other keys it is a domain like any other. The top-level
// domain is reserved for tests (RFC 6761 section 6.2).
const testDomain = "addrspec.test"

const textTestDomain = "A test key takes addresses at " + testDomain + " only; the page /docs/testing of the service " +
	"has the table of them and what they get."

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

// useTable replaces what the module and DNS have about the addresses by what the table has. It returns the
// problem that the table has for the whole request. The month has a day to its refill, and the rate a
// second to its next token.
func (c *check) useTable() *wire.Problem {
	failures := map[string]bool{}
	for n := range c.items {
		i := &c.items[n]
		i.lookup.finished = true
		if !i.facts.Valid {
			continue
		}
		if i.facts.Host != testDomain {
			return wire.InvalidRequest.With(textTestDomain)
		}
		failure, err := i.setByTable(c.flags)
		if err != nil {
			c.logError("a row of the table of test keys is wrong", err)
			return wire.Defect()
		}
		failures[failure] = true
	}
	switch {
	case failures[failRate]:
		return decisionProblem(ledger.Decision{Kind: ledger.RateLimited, RetryAfter: time.Second}, c.shape, 0)
	case failures[failPoints]:
		refill := 24 * time.Hour
		return decisionProblem(ledger.Decision{Kind: ledger.Insufficient, RetryAfter: refill}, c.shape, int64(len(c.items)))
	case failures[failService]:
		p := ledgerProblem(store.ErrUnavailable)
		p.RetryAfter = time.Second // always the same
		return p
	}
	return nil
}

// setByTable sets what the table has for a valid address. It returns the failure that the table has, if any.
func (i *item) setByTable(flags host.Flags) (failure string, err error) {
	var r testResult
	if err := json.Unmarshal(i.facts.JSON, &r); err != nil {
		return "", err
	}
	table, row := testTableOf(), testRow{}
	local, _, _ := strings.Cut(strings.TrimSuffix(text(r.Normalized), "@"+testDomain), "+")
	for _, other := range table.Rows {
		if other.Local == local {
			row = other
		}
	}
	r.merge(table.Ordinary)
	r.merge(row.Result)
	if flags&host.FullSuggestion != 0 && string(r.TypoSuggestion) != "null" {
		r.TypoSuggestion = wire.Encode(text(r.LocalPart) + "@" + text(r.TypoSuggestion))
	}
	known, err := result.Parse(wire.Encode(&r))
	if err != nil {
		return "", err
	}
	switch row.Failure {
	case failTimeout:
		i.lookup.err = &mx.Error{Kind: mx.Timeout, Reason: mx.NoReply}
	case failLookup:
		i.lookup.err = &mx.Error{Kind: mx.Failure, Reason: mx.Rcode}
	case failUnfinished:
		i.lookup.finished = false
	}
	if row.Failure != "" {
		return row.Failure, nil
	}
	if flags&host.Details == 0 {
		r.Details = nil
	}
	subject := known.Subject(testDomain)
	i.subject, i.lookup.found = &subject, host.Lookup{MX: known.MX}
	i.facts = fixedFacts(wire.Encode(&r), known.Valid)
	if !known.Valid {
		i.facts.Refusal.Sentence = known.Details.Refusal.Sentence
	}
	return "", nil
}

// fixedFacts returns facts whose result is JSON, once they are resolved. They have no host, so nothing
// but mx depends on a lookup.
func fixedFacts(JSON []byte, valid bool) host.Facts {
	_, value, _ := bytes.Cut(JSON, []byte(`,"mx":`)) // which no string of JSON has: in it, quotes are escaped
	length := bytes.IndexByte(value, ',')
	email, _, _ := bytes.Cut(JSON[len(`{"email":`):], []byte(`,"valid":`))
	place := host.Place{At: len(JSON) - len(value), Length: length}
	return host.Facts{JSON: JSON, Email: email, MX: place, Valid: valid}
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
