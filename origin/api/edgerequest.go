package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	opSingle = "single"
	opBatch  = "batch"
)

// An edgeRequest is the body of a worker's request. The doc comment of edge
// describes the members.
type edgeRequest struct {
	Operation string   `json:"operation"`
	Points    int64    `json:"points"`
	Tally     tally    `json:"tally"`
	Domains   []domain `json:"domains"`
	Brief     bool     `json:"brief"`
}

// A domain is a domain to look up, in A-label form.
type domain struct {
	Name      string `json:"name"`
	Addresses int64  `json:"addresses"`
	Tally     tally  `json:"tally"`
}

// A tally counts what the worker's checks found at some addresses.
type tally struct {
	Valid      int64 `json:"valid"`
	Invalid    int64 `json:"invalid"`
	Disposable int64 `json:"disposable"`
	Public     int64 `json:"public"`
	Relay      int64 `json:"relay"`
	Role       int64 `json:"role"`
	Gibberish  int64 `json:"gibberish"`
	Typo       int64 `json:"typo"`
}

// readEdgeRequest reads and validates the body. With a problem, it returns a
// request that has at most the operation.
func (x *exchange) readEdgeRequest(r *http.Request) (edgeRequest, *problem) {
	body, p := x.readBody(r)
	if p != nil {
		return edgeRequest{}, p
	}
	var given edgeRequest
	if err := json.Unmarshal(body, &given); err != nil {
		return edgeRequest{}, invalidRequest.with(`The body must be {"operation": "single" or "batch", "points": N, "tally": {}, "domains": [{"name": "example.org", "addresses": 1, "tally": {}}]}.`)
	}
	if wrong := given.validate(); wrong != "" {
		return edgeRequest{Operation: given.Operation}, invalidRequest.with(wrong)
	}
	return given, nil
}

// style returns the style of the operation, or of a batch if it is unknown.
func (s *edgeRequest) style() *problemStyle {
	if s.Operation == opSingle {
		return singleStyle
	}
	return batchStyle
}

func (s *edgeRequest) names() []string {
	names := make([]string, len(s.Domains))
	for n := range names {
		names[n] = s.Domains[n].Name
	}
	return names
}

// validate returns a message that says what is wrong, or "".
func (s *edgeRequest) validate() string {
	limit := s.maxPoints()
	switch {
	case limit == 0:
		return `operation must be "single" or "batch".`
	case s.Points < 0 || s.Points > limit:
		return fmt.Sprintf("points must be 0 to %d.", limit)
	case int64(len(s.Domains)) > limit:
		return fmt.Sprintf("domains must have at most %d elements.", limit)
	}
	return s.validateDomains()
}

// maxPoints returns the largest cost of the operation, or 0 if it is unknown.
func (s *edgeRequest) maxPoints() int64 {
	switch s.Operation {
	case opSingle:
		return 1
	case opBatch:
		return maxUnique
	}
	return 0
}

// validateDomains checks the domains and tallies, and that points covers all
// addresses.
func (s *edgeRequest) validateDomains() string {
	left := s.Points
	for n := range s.Domains {
		d := &s.Domains[n]
		switch {
		case d.Name == "" || len(d.Name) > maxDomain:
			return fmt.Sprintf("domains[%d].name must be a domain in A-label form, 1 to %d bytes.", n, maxDomain)
		case d.Addresses < 1 || d.Addresses > left:
			return fmt.Sprintf("domains[%d].addresses must be at least 1, and all together at most points.", n)
		case !d.Tally.fits(d.Addresses):
			return fmt.Sprintf("domains[%d].tally must have counts from 0 to the domain's addresses.", n)
		}
		left -= d.Addresses
	}
	if !s.Tally.fits(left) {
		return "tally must have counts from 0 to the number of addresses without a domain."
	}
	return ""
}

// maxDomain is the longest domain name in bytes (RFC 1035 section 2.3.4).
const maxDomain = 253

// fits reports whether the tally can belong to that many addresses.
func (t *tally) fits(addresses int64) bool {
	for _, n := range [...]int64{t.Valid, t.Invalid, t.Disposable, t.Public, t.Relay, t.Role, t.Gibberish, t.Typo} {
		if n < 0 || n > addresses {
			return false
		}
	}
	return t.Valid+t.Invalid <= addresses
}

// outcome sums up the points to charge and the facts counted at the charged
// addresses. lookups is in the order of the domains.
func (s *edgeRequest) outcome(lookups []lookup) outcome {
	done := outcome{points: s.Points, body: appendEdgeResponse(nil, lookups)}
	s.Tally.addTo(&done.found)
	for n, l := range lookups {
		d := &s.Domains[n]
		switch {
		case !l.finished:
			done.points -= d.Addresses
		case l.err != nil:
			done.found.LookupErrors += d.Addresses
		default:
			d.Tally.addTo(&done.found)
		}
	}
	return done
}

func (t *tally) addTo(found *ledger.Found) {
	found.Valid += t.Valid
	found.Invalid += t.Invalid
	found.Disposable += t.Disposable
	found.Public += t.Public
	found.Relay += t.Relay
	found.Role += t.Role
	found.Gibberish += t.Gibberish
	found.Typo += t.Typo
}
