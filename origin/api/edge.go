package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// edge is POST /v1/edge/admit. It does the part of an operation that an edge
// worker cannot: it checks the caller's key, rate and points, looks up MX, and
// charges. The worker runs the module itself, so the request has no address, only
// domains and counts. edgeRequest and edgeResponse are the bodies. Request headers:
//
//	X-Edge-Secret                 a secret of the deployment (--edge-secret)
//	X-API-Key or Authorization    the caller's key
//	X-Request-Id                  the request's id
//	Origin                        the request's, if it has one
//
// Only the origin has policies and the table of test keys. So for a test key and for a
// key with a default policy the response is 204 with X-Edge-MX: forward, before a token is
// taken or the body is read: the worker must forward its client's request whole. A worker
// forwards a request that names a policy without asking.
//
// A brief request for one domain gets 204 with X-Edge-MX: true or false, unless there is more
// to say than mx, because reading 29 bytes of a body costs a worker in workerd a seventh of
// its processor time. Every response about the key has the headers of the client's
// response: X-Usage-*, RateLimit*, and those that let a page of the key's browser origins
// read it.
//
// 403 INVALID_EDGE_SECRET, 400, 413 and 415 are for the worker. Every other problem (401, 402,
// 429, 500, 503) is the caller's response in its final shape, which the worker passes on. If
// the worker disconnects before the charge, nothing is charged.
func (s *Server) edge(r *http.Request) wire.Response {
	// The hashes are compared in constant time, and with every secret, so the time depends neither on a
	// secret, nor on its length, nor on which one matches.
	given, matches := sha256.Sum256([]byte(r.Header.Get(headerEdgeSecret))), 0
	for _, secret := range s.EdgeSecrets {
		want := sha256.Sum256([]byte(secret))
		matches |= subtle.ConstantTimeCompare(given[:], want[:])
	}
	if matches != 1 {
		return wire.InvalidEdgeSecret.With("X-Edge-Secret does not match this origin's; " +
			"start the origin and its workers with the same --edge-secret.").Response(wire.Enveloped)
	}
	key, p := wire.ReadKey(r.Header)
	if p != nil {
		return p.Response(wire.Enveloped)
	}
	page := wire.PageOrigin(r.Header)
	if s.Ledger.Forwards(r.Context(), key, page) {
		return brief(edgeForward)
	}
	return s.serveKey(r, key, page, "edge", wire.Enveloped, admit)
}

// brief returns a response without a body.
func brief(value string) wire.Response {
	return wire.Response{Status: http.StatusNoContent, Fields: []wire.Field{{Name: headerEdgeMX, Value: value}}}
}

const (
	edgePath         = "/v1/edge/admit"
	headerEdgeSecret = "X-Edge-Secret"
	headerEdgeMX     = "X-Edge-Mx"

	// edgeForward is the value of X-Edge-MX in place of the MX.
	edgeForward = "forward"

	opSingle = "single"
	opBatch  = "batch"
)

// An edgeRequest is the body of a worker's request.
type edgeRequest struct {
	// Operation is opSingle or opBatch. It determines the shape of problems.
	Operation string `json:"operation"`
	// Points is the cost: one point for each distinct address, at most 64. It is 0 for input that
	// the worker refuses: only key and rate are checked, and nothing is charged.
	Points int64 `json:"points"`
	// Tally has the addresses that need no lookup (not valid, or an address literal): Points
	// includes them, Domains does not.
	Tally   tally    `json:"tally"`
	Domains []domain `json:"domains"`
	// Brief says that the worker takes the MX of one domain in X-Edge-MX.
	Brief bool `json:"brief"`
	// Details says that the client asked for details, which need Exchange.
	Details bool `json:"details"`
}

// A domain is a domain to look up, in A-label form.
type domain struct {
	Name      string `json:"name"`
	Addresses int64  `json:"addresses"` // the number of addresses there
	// Classed says that the worker's lists have an entry for the domain, or it is misspelled. Then
	// its exchanges do not make it disposable.
	Classed bool  `json:"classed"`
	Tally   tally `json:"tally"`
}

// A tally counts what the worker's checks found at some addresses. Neither Valid and Invalid
// together nor any other member may exceed the number of these addresses. If the lookup of a
// domain fails, its addresses count as lookup errors and its tally is not used; if the lookup is
// not finished, its addresses are not counted. So the usage history is exact for the addresses
// that are charged.
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

// An edgeResponse is the body of a 200. The members but Partial are in the order of the
// request's Domains.
type edgeResponse struct {
	// MX has true, false, "DNS_TIMEOUT", "DNS_FAILURE", or nil for a domain that was not finished
	// in time, whose addresses are not charged. Partial says whether it has a nil.
	MX      []any `json:"mx"`
	Partial bool  `json:"partial"`
	// Disposable says which domains are disposable by their exchanges; nil if none is. Their
	// addresses are counted as disposable.
	Disposable []bool `json:"disposable,omitempty"`
	// Exchange has the values of exchange in the details; nil if the request does not want them.
	Exchange []json.RawMessage `json:"exchange,omitempty"`
}

// admit is the operation of a worker's request.
func admit(x *exchange, r *http.Request) (none wire.Response, p *wire.Problem) {
	// Forwards could not know it while the ledger could not look the key up.
	if x.request.Test() || x.quota != nil && x.quota.Policy != "" {
		return brief(edgeForward), nil
	}
	body, p := x.readBody(r, batchBody)
	if p != nil {
		return none, p
	}
	given, p := decodeEdgeRequest(body)
	if given.Operation == opSingle {
		x.shape = wire.Flat
	}
	if p != nil {
		return none, p
	}
	if _, _, p := x.claim(given.Points, nil); p != nil {
		return none, p
	}
	ctx := x.request.Context()
	work := ctx
	if given.Operation == opBatch {
		batch, cancel := x.workContext(ctx)
		defer cancel()
		work = batch
	}
	names := make([]string, len(given.Domains))
	for n, d := range given.Domains {
		names[n] = d.Name
	}
	lookups, p := x.lookUpAll(work, names, given.Details)
	if p != nil {
		return none, p
	}
	ordered, exchanges := make([]lookup, len(names)), make([]host.Exchange, len(names))
	view := x.Engine.View() // this origin's lists classify the exchanges
	for n, d := range given.Domains {
		l := lookups[d.Name]
		ordered[n] = l
		wanted := given.Details || !d.Classed && host.MayBeTemporary(d.Name, l.found.Exchanges)
		if !wanted || !l.finished || l.err != nil {
			continue
		}
		exchange, err := view.Exchange(ctx, d.Name, l.found)
		if err != nil {
			return none, x.moduleProblem(ctx, err)
		}
		exchanges[n] = exchange
	}
	points, found, response := given.outcome(ordered, exchanges)
	one := given.Operation == opSingle && len(ordered) == 1
	if one && ordered[0].err != nil {
		return none, lookupProblem(ordered[0].err)
	}
	done, p := x.charge(points, found, wire.Encode(response))
	if p == nil && one && given.Brief && !given.Details && response.Disposable == nil {
		done = brief(strconv.FormatBool(ordered[0].found.MX))
	}
	return done, p
}

// decodeEdgeRequest decodes and validates the body of a worker's request. With a problem, the request has
// at most the operation.
func decodeEdgeRequest(body []byte) (given edgeRequest, p *wire.Problem) {
	if err := json.Unmarshal(body, &given); err != nil {
		return edgeRequest{}, wire.InvalidRequest.With(`The body must be {"operation": "single" or "batch", "points": N, ` +
			`"tally": {}, "domains": [{"name": "example.org", "addresses": 1, "tally": {}}]}.`)
	}
	if wrong := given.validate(); wrong != "" {
		return edgeRequest{Operation: given.Operation}, wire.InvalidRequest.With(wrong)
	}
	return given, nil
}

// maxDomain is the longest domain name in bytes (RFC 1035 section 2.3.4).
const maxDomain = 253

// validate returns a message that says what is wrong, or "".
func (s *edgeRequest) validate() string {
	limit := map[string]int64{opSingle: 1, opBatch: maxUnique}[s.Operation]
	switch {
	case limit == 0:
		return `operation must be "single" or "batch".`
	case s.Points < 0 || s.Points > limit:
		return fmt.Sprintf("points must be 0 to %d.", limit)
	case int64(len(s.Domains)) > limit:
		return fmt.Sprintf("domains must have at most %d elements.", limit)
	}
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

// fits reports whether the tally can belong to that many addresses.
func (t *tally) fits(addresses int64) bool {
	for _, n := range [...]int64{
		t.Valid, t.Invalid, t.Disposable, t.Public, t.Relay, t.Role, t.Gibberish, t.Typo,
	} {
		if n < 0 || n > addresses {
			return false
		}
	}
	return t.Valid+t.Invalid <= addresses
}

func (t *tally) addTo(found *book.Found) {
	found.Valid += t.Valid
	found.Invalid += t.Invalid
	found.Disposable += t.Disposable
	found.Public += t.Public
	found.Relay += t.Relay
	found.Role += t.Role
	found.Gibberish += t.Gibberish
	found.Typo += t.Typo
}

// outcome returns the points to charge, the facts counted at the charged addresses, and the response.
// lookups and exchanges are in the order of the domains.
func (s *edgeRequest) outcome(lookups []lookup, exchanges []host.Exchange) (
	points int64, found book.Found, response edgeResponse,
) {
	points, response.MX = s.Points, make([]any, len(lookups))
	if s.Details {
		response.Exchange = make([]json.RawMessage, len(lookups))
	}
	s.Tally.addTo(&found)
	for n, l := range lookups {
		d := &s.Domains[n]
		if !l.finished {
			response.Partial = true
			points -= d.Addresses
			continue
		}
		if l.err != nil {
			response.MX[n], _ = mx.ItemError(l.err, "")
			found.LookupErrors += d.Addresses
			continue
		}
		response.MX[n] = l.found.MX
		d.Tally.addTo(&found)
		if s.Details {
			response.Exchange[n] = json.RawMessage(exchanges[n].JSON)
		}
		if exchanges[n].Temporary && !d.Classed {
			if response.Disposable == nil {
				response.Disposable = make([]bool, len(lookups))
			}
			response.Disposable[n] = true
			found.Disposable += d.Addresses - d.Tally.Disposable
		}
	}
	return points, found, response
}
