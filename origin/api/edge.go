package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// edge is POST /v1/edge/admit. It does the part of an operation that an edge
// worker cannot: it checks the caller's key, rate and points, looks up MX, and
// charges. The worker runs the module itself, so the request has no address, only
// domains and counts.
//
// Request headers:
//
//	X-Edge-Secret                 a secret of the deployment (--edge-secret)
//	X-API-Key or Authorization    the caller's key
//	X-Request-Id                  the request's id
//	Origin                        the request's, if it has one
//	X-Edge-Policy                 the name of the policy that the client asked for, or * for the
//	                              key's default; then a space and the digest of the document
//	                              that the worker would decide by, if it has one
//
// Request body, JSON:
//
//	operation  "single" or "batch"; determines the shape of problems
//	points     the cost: one point for each distinct address, at most 64; 0 for
//	           input that the worker refuses: only key and rate are checked, and
//	           nothing is charged
//	tally      counts of the addresses that need no lookup (not valid, or an
//	           address literal): points includes them, domains does not
//	domains    at most 64 objects: name, an A-label domain; addresses, the
//	           number of addresses at this domain; tally, their counts; classed,
//	           whether the worker's lists have an entry for it, or it is
//	           misspelled: then its exchanges do not make it disposable
//	details    whether the client asked for details, which need exchange
//	brief      whether a 204 may be the response to a single validation with one domain: it has
//	           the header X-Edge-MX, "true" or "false", and no body, unless there is more
//	           to say than mx. Reading 29
//	           bytes costs a worker in workerd a seventh of its processor time
//
// A tally counts what the checks found at some addresses. Its members are valid,
// invalid, disposable, public, relay, role, gibberish and typo, non-negative
// integers; the default is 0. Neither valid and invalid together nor any other
// member may exceed the number of addresses that are counted. If the lookup of a
// domain fails, its addresses count as lookup errors and its tally is not used;
// if it is not finished, they are not counted. So the usage history is exact for
// the addresses that are charged.
//
// Every response about the key has the headers of the client's response: X-Usage-*,
// RateLimit*, and those that let a page of the key's browser origins read it. A 200
// has, as JSON,
//
//	mx       in the order of domains: true, false, "DNS_TIMEOUT", "DNS_FAILURE",
//	         or null for a domain that was not finished in time, whose addresses
//	         are not charged
//	partial  whether mx has a null
//	disposable, only if one is true: whether the domain is disposable by its exchanges,
//	         true or false, in the same order. Its addresses are counted as disposable
//	exchange, only with details: in the same order, the value of exchange in the details,
//	         or null
//	address, only if one is not false and the policy may ask for it: in the same order, whether
//	         the domain has no MX records, but an address record; null if it has no MX records
//	         and the lookup of its address record failed
//
// The worker gives the verdict, by the document of the policy. The header X-Edge-Policy of the
// response has the document's digest, SHA-256 in hexadecimal: that which the worker has sent,
// as a confirmation that this policy of this key's account is in force. It is missing if the
// request has no policy. If the worker has sent another digest or none, the response is the
// document itself, with X-Edge-MX: policy, before a token is taken or the body read; the worker
// asks again with its digest. So no charge precedes a document that the worker cannot use. For a
// document of more than maxEdgePolicy bytes the response is 204 with X-Edge-MX: forward, and the
// worker forwards its client's request whole; it may do so with any. So it is for every request
// with a test key, whatever else it has: the origin decides by its table (testkeys.go). Where the key has a policy,
// a request without X-Edge-Policy is 503.
//
// 403 INVALID_EDGE_SECRET, 400 INVALID_REQUEST, 413 and 415 are for the worker, but 400 with
// X-Edge-Policy: none is for the caller: the account has no such policy.
// Every other problem (401, 402, 429, 500, 503) is the caller's response in its
// final shape, which the worker passes on. If the worker disconnects before the
// charge, nothing is charged.
var edge = &operation{name: "edge", guard: (*Server).guardEdge, instead: (*Server).redirect, style: batchStyle, read: readEdge}

const (
	edgePath         = "/v1/edge/admit"
	headerEdgeSecret = "X-Edge-Secret"
	headerEdgeMX     = "X-Edge-Mx"

	headerEdgePolicy = "X-Edge-Policy"

	// Values of X-Edge-MX in place of the MX.
	edgeDocument = "policy"  // the body is the document of the policy
	edgeForward  = "forward" // the worker must forward its client's request

	edgeNoPolicy = "none" // the value of X-Edge-Policy for a policy that the account does not have
)

// maxEdgePolicy is the length in bytes of the longest document that a worker gets. As an
// instance of the module has 16 policies, they are within the bound of wasm/host.
const maxEdgePolicy = 256 << 10

// An edgePolicy is what a worker's request says about the policy.
type edgePolicy struct {
	name   string // "" for the key's default
	digest string // of the document that the worker has; may be empty
}

// edgePolicyOf reads X-Edge-Policy; given is false without one.
func edgePolicyOf(h http.Header) (asked edgePolicy, given bool) {
	value := h.Get(headerEdgePolicy)
	asked.name, asked.digest, _ = strings.Cut(value, " ")
	if asked.name == "*" {
		asked.name = ""
	}
	return asked, value != ""
}

// redirect responds to a worker that has to forward its client's request, or does not have the
// policy of it. If it has, the request goes on with that, whatever becomes of it in the database.
func (s *Server) redirect(r *http.Request, secret, page string) (resp response, found *host.Policy, done bool) {
	asked, given := edgePolicyOf(r.Header)
	peek := s.Ledger.Prospect(r.Context(), secret, page, asked.name)
	switch {
	case peek.Test:
		return response{status: http.StatusNoContent, edgeMX: edgeForward}, nil, true
	case !given || peek.Policy == nil:
		return response{}, nil, false
	}
	stored := peek.Policy
	p, err := s.accept(r.Context(), stored)
	switch {
	case err != nil:
		return response{}, nil, false // confirmPolicy fails likewise
	case p.Digest() == asked.digest:
		return response{}, p, false
	case len(stored.Document) > maxEdgePolicy:
		return response{status: http.StatusNoContent, edgeMX: edgeForward}, nil, true
	}
	return s.document(r.Context(), stored, p), nil, true
}

// document responds with the document of a policy. No token limits how many are being sent to
// workers, so they count as the account's memory.
func (s *Server) document(ctx context.Context, stored *ledger.Policy, p *host.Policy) response {
	memory, size := &reservation{budget: s.Memory, account: stored.Account}, int64(len(stored.Document))
	if err := memory.grow(ctx, size, size); err != nil {
		return bodyProblem(err, 0).response(enveloped)
	}
	return response{status: http.StatusOK, body: []byte(stored.Document), edgeMX: edgeDocument, edgePolicy: p.Digest(), afterSend: func() { memory.set(0) }}
}

// guardEdge checks the edge secret. It compares hashes in constant time, and with
// every secret, so the time depends neither on a secret, nor on its length, nor on
// which one matches.
func (s *Server) guardEdge(h http.Header) *problem {
	given, matches := sha256.Sum256([]byte(h.Get(headerEdgeSecret))), 0
	for _, secret := range s.EdgeSecrets {
		want := sha256.Sum256([]byte(secret))
		matches |= subtle.ConstantTimeCompare(given[:], want[:])
	}
	if matches == 1 {
		return nil
	}
	return invalidEdgeSecret.with("X-Edge-Secret does not match this origin's; start the origin and its workers with the same --edge-secret.")
}

func readEdge(x *exchange, r *http.Request) (job, *problem) {
	if x.request.Test() { // which redirect could not know: the database was not available
		x.edgeMX = edgeForward
		return job{work: func(*exchange, context.Context) (outcome, *problem) { return outcome{}, nil }}, nil
	}
	request, p := x.readEdgeRequest(r)
	if p == nil {
		p = x.confirmPolicy(r.Header, request.Points)
	}
	j := job{style: request.style(), price: request.Points}
	j.work = func(x *exchange, ctx context.Context) (outcome, *problem) { return x.finishEdge(ctx, &request) }
	return j, p
}

// confirmPolicy confirms the policy of the request, by whose document the worker decides. It
// returns a problem if the worker does not have it: the policy is newer than redirect's look,
// or the worker knows no policies. Input that the worker refuses has no verdict, but the policy
// that it names must exist.
func (x *exchange) confirmPolicy(h http.Header, points int64) *problem {
	asked, _ := edgePolicyOf(h)
	if points == 0 && asked.name == "" {
		return nil
	}
	var p *problem
	if x.policy == nil {
		p = x.loadPolicy(asked.name)
	}
	switch {
	case p != nil && p.status == http.StatusBadRequest:
		x.edgePolicy = edgeNoPolicy
	case p == nil && x.policy != nil && points > 0:
		if x.policy.Digest() != asked.digest {
			return unavailable("The edge worker does not have the policy that is in force now; nothing was charged. Try again shortly.")
		}
		x.edgePolicy = asked.digest
	}
	return p
}

func (x *exchange) finishEdge(ctx context.Context, request *edgeRequest) (outcome, *problem) {
	lookups, p := x.lookUpDomains(ctx, request)
	if p != nil {
		return outcome{}, p
	}
	resolved, err := x.resolveDomains(ctx, request, lookups)
	if err != nil {
		return outcome{}, x.moduleProblem(ctx, err)
	}
	done := request.outcome(resolved)
	if request.Brief && request.Operation == opSingle && len(resolved) == 1 && !request.Details && !resolved[0].disposable && resolved[0].address == "" {
		x.edgeMX, done.body = strconv.FormatBool(lookups[0].found.MX), nil
	}
	return done, nil
}

// A resolvedDomain is a lookup and what its exchanges say.
type resolvedDomain struct {
	lookup
	disposable bool
	address    string // the value of address; "" for false
	exchange   string // the value of exchange; "" without details
}

// resolveDomains classifies the exchanges of the domains by this origin's lists.
func (x *exchange) resolveDomains(ctx context.Context, request *edgeRequest, lookups []lookup) ([]resolvedDomain, error) {
	view, resolved := x.Engine.View(), make([]resolvedDomain, len(lookups))
	for n, l := range lookups {
		resolved[n].lookup = l
		if !l.finished || l.err != nil {
			continue
		}
		if x.policy.WantsAddress() && !l.found.MX {
			switch l.found.AddressRecord {
			case host.AddressUnknown:
				resolved[n].address = "null"
			case host.AddressPresent:
				resolved[n].address = "true"
			}
		}
		d := &request.Domains[n]
		if !request.Details && (d.Classed || !host.MayBeTemporary(d.Name, l.found.Exchanges)) {
			continue
		}
		e, err := view.Exchange(ctx, d.Name, l.found)
		if err != nil {
			return nil, err
		}
		resolved[n].disposable = e.Temporary && !d.Classed
		if request.Details {
			resolved[n].exchange = e.JSON
		}
	}
	return resolved, nil
}

// lookUpDomains looks up the domains of a request and returns the lookups in
// the same order.
func (x *exchange) lookUpDomains(ctx context.Context, request *edgeRequest) ([]lookup, *problem) {
	if request.Operation == opSingle {
		return x.lookUpSingle(ctx, request)
	}
	ctx, cancel := x.workContext(ctx)
	defer cancel()
	known, err := x.lookUpAll(ctx, request.names(), request.Details || x.policy.WantsAddress())
	if err != nil {
		return nil, x.workProblem(ctx, err)
	}
	lookups := make([]lookup, len(request.Domains))
	for n, d := range request.Domains {
		lookups[n] = known[d.Name]
	}
	return lookups, nil
}

// lookUpSingle looks up the domain of a single request, if it has one. If the
// lookup fails, so does the request.
func (x *exchange) lookUpSingle(ctx context.Context, request *edgeRequest) ([]lookup, *problem) {
	lookups := make([]lookup, len(request.Domains))
	for n, d := range request.Domains {
		found, err := x.lookUp(ctx, d.Name, request.Details || x.policy.WantsAddress())
		if err != nil {
			return nil, lookupProblem(err)
		}
		lookups[n] = lookup{finished: true, found: found}
	}
	return lookups, nil
}

func appendEdgeResponse(dst []byte, resolved []resolvedDomain, details bool) []byte {
	partial, disposable, address := false, false, false
	for n := range resolved {
		partial = partial || !resolved[n].finished
		disposable = disposable || resolved[n].disposable
		address = address || resolved[n].address != ""
	}
	dst = appendEach(append(dst, `{"mx":[`...), resolved, func(dst []byte, r *resolvedDomain) []byte { return r.lookup.append(dst) })
	dst = strconv.AppendBool(append(dst, `],"partial":`...), partial)
	if disposable {
		dst = appendEach(append(dst, `,"disposable":[`...), resolved, func(dst []byte, r *resolvedDomain) []byte { return strconv.AppendBool(dst, r.disposable) })
		dst = append(dst, ']')
	}
	if address {
		dst = appendEach(append(dst, `,"address":[`...), resolved, func(dst []byte, r *resolvedDomain) []byte { return append(dst, cmp.Or(r.address, "false")...) })
		dst = append(dst, ']')
	}
	if details {
		dst = appendEach(append(dst, `,"exchange":[`...), resolved, func(dst []byte, r *resolvedDomain) []byte { return append(dst, cmp.Or(r.exchange, "null")...) })
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendEach appends what value appends for each domain, separated by commas.
func appendEach(dst []byte, resolved []resolvedDomain, value func(dst []byte, r *resolvedDomain) []byte) []byte {
	for n := range resolved {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = value(dst, &resolved[n])
	}
	return dst
}

func (l lookup) append(dst []byte) []byte {
	switch {
	case !l.finished:
		return append(dst, "null"...)
	case l.err != nil:
		code, _ := mx.ItemError(l.err, "")
		return strconv.AppendQuote(dst, code)
	}
	return strconv.AppendBool(dst, l.found.MX)
}

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
	Details   bool     `json:"details"`
}

// A domain is a domain to look up, in A-label form.
type domain struct {
	Name      string `json:"name"`
	Addresses int64  `json:"addresses"`
	Classed   bool   `json:"classed"`
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
// addresses. resolved is in the order of the domains.
func (s *edgeRequest) outcome(resolved []resolvedDomain) outcome {
	done := outcome{points: s.Points, body: appendEdgeResponse(nil, resolved, s.Details)}
	s.Tally.addTo(&done.found)
	for n, l := range resolved {
		d := &s.Domains[n]
		switch {
		case !l.finished:
			done.points -= d.Addresses
		case l.err != nil:
			done.found.LookupErrors += d.Addresses
		default:
			d.Tally.addTo(&done.found)
			if l.disposable {
				done.found.Disposable += d.Addresses - d.Tally.Disposable
			}
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
