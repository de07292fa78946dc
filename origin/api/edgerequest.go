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

// A share is the part of an operation that a worker leaves to the origin; the
// doc comment of edge says what its members mean.
type edgeRequest struct {
	Operation string   `json:"operation"`
	Points    int64    `json:"points"`
	Tally     tally    `json:"tally"`
	Domains   []domain `json:"domains"`
}

// A domain is one to ask for MX, in A-label form.
type domain struct {
	Name      string `json:"name"`
	Addresses int64  `json:"addresses"`
	Tally     tally  `json:"tally"`
}

// A tally is what the worker's checks found at some addresses.
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

// readShare reads and judges the body. A share with a problem is empty but for
// its operation.
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

// style is that of the operation, or of a batch if there is no such operation.
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

// wrong says what is wrong with the share, or nothing.
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

// limit is the most points that the operation costs; 0 if there is no such
// operation.
func (s *edgeRequest) maxPoints() int64 {
	switch s.Operation {
	case opSingle:
		return 1
	case opBatch:
		return maxUnique
	}
	return 0
}

// wrongDomain checks that every address is paid, and each only once.
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

// fits reports whether the tally can be about so many addresses.
func (t *tally) fits(addresses int64) bool {
	for _, n := range [...]int64{t.Valid, t.Invalid, t.Disposable, t.Public, t.Relay, t.Role, t.Gibberish, t.Typo} {
		if n < 0 || n > addresses {
			return false
		}
	}
	return t.Valid+t.Invalid <= addresses
}

// outcome adds up what is charged and what was found there. The lookups are in
// the order of the domains.
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
