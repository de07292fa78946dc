package api

import (
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	opSingle = "single"
	opBatch  = "batch"
)

// share is the part of an operation that a worker leaves to the origin.
type share struct {
	Operation string   `json:"operation"`
	Points    int64    `json:"points"`
	Domains   []domain `json:"domains"`
}

// domain is one to ask for MX, in A-label form.
type domain struct {
	Name      string `json:"name"`
	Addresses int64  `json:"addresses"` // how many points hang on it
}

// readShare reads and judges the body of POST /v1/edge/admit. A bad one costs
// nothing.
func readShare(r *http.Request) (share, *fault) {
	body, bad := readBody(r)
	if bad != nil {
		return share{}, bad
	}
	var given share
	if err := json.Unmarshal(body, &given); err != nil {
		return share{}, invalidRequest.with(`The body must be {"operation": "single" or "batch", "points": N, "domains": [{"name": "example.org", "addresses": 1}]}.`)
	}
	if wrong := given.wrong(); wrong != "" {
		return share{Operation: given.Operation}, invalidRequest.with(wrong)
	}
	return given, nil
}

// wrong says what makes no sense, or nothing.
func (s *share) wrong() string {
	limit := s.limit()
	switch {
	case limit == 0:
		return `operation must be "single" or "batch".`
	case s.Points < 0 || s.Points > limit:
		return fmt.Sprintf("points must be 0 to %d.", limit)
	case int64(len(s.Domains)) > limit:
		return fmt.Sprintf("domains must hold at most %d.", limit)
	}
	return s.wrongDomain()
}

// limit is the most points an operation costs; 0 for one that there is not.
func (s *share) limit() int64 {
	switch s.Operation {
	case opSingle:
		return 1
	case opBatch:
		return maxUnique
	}
	return 0
}

// wrongDomain holds the domains to the points: every address is paid, and none
// is given back twice.
func (s *share) wrongDomain() string {
	left := s.Points
	for n, d := range s.Domains {
		if d.Name == "" || len(d.Name) > maxDomain {
			return fmt.Sprintf("domains[%d].name must be a domain in A-label form, 1 to %d octets.", n, maxDomain)
		}
		if d.Addresses < 1 || d.Addresses > left {
			return fmt.Sprintf("domains[%d].addresses must be at least 1, and all together at most points.", n)
		}
		left -= d.Addresses
	}
	return ""
}

// maxDomain is the longest domain name, in octets (RFC 1035 section 2.3.4).
const maxDomain = 253

// unfinished counts the points that hang on domains without an answer.
func (s *share) unfinished(items []item) (points int64) {
	for n := range items {
		if !items[n].finished {
			points += s.Domains[n].Addresses
		}
	}
	return points
}
