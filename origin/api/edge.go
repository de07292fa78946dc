package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
)

// edge is POST /v1/edge/admit, which does for an edge worker what only the
// origin can: it judges the caller's key, rate and points, asks DNS, and
// charges. The worker runs the module itself, so no address comes here, only
// domains and counts.
//
// Request headers:
//
//	X-Edge-Secret                 the deployment's secret (--edge-secret)
//	X-API-Key or Authorization    the caller's key
//	X-Request-Id                  the request's id
//
// Request body, JSON:
//
//	operation  "single" or "batch"; it decides what problems look like
//	points     the price, one point for each distinct address, at most 64; 0 for
//	           input that the worker refuses: only key and rate are judged, and
//	           nothing is charged
//	tally      counts of the addresses without a domain to ask (not valid, or
//	           with an address literal), which only points includes
//	domains    at most 64 objects: name, an A-label domain; addresses, the
//	           number of addresses at this domain; tally, counts of these
//
// A tally is an object of what the checks found, counts only. Its members are
// valid, invalid, disposable, public, relay, role, gibberish and typo,
// non-negative integers; one that is absent is 0. Neither valid and invalid
// together nor any other member may exceed the number of addresses that the
// tally is about. A domain whose look-up failed adds its addresses to the
// account's lookup errors, and its tally is not used; one that is not finished
// adds nothing. So the history is exact for what is charged.
//
// 200 carries the X-Usage-* headers of the answer and
//
//	mx       in the order of domains: true, false, "DNS_TIMEOUT", "DNS_FAILURE",
//	         or null for a domain that was not finished in time and whose
//	         addresses are not charged
//	partial  whether mx has a null
//
// 403 INVALID_EDGE_SECRET, 400 INVALID_REQUEST, 413 and 415 are for the worker.
// Every other problem (401, 402, 429, 500, 503) is the caller's answer in its
// final shape: the worker passes it on. A worker that leaves before the charge
// is charged nothing.
var edge = &operation{name: "edge", guard: (*Server).guardEdge, style: batchStyle, read: readEdge}

const (
	edgePath         = "/v1/edge/admit"
	headerEdgeSecret = "X-Edge-Secret"
)

// guardEdge lets in who knows the secret. It compares hashes in constant time,
// so the time depends neither on the secret nor on its length.
func (s *Server) guardEdge(h http.Header) *problem {
	given, want := sha256.Sum256([]byte(h.Get(headerEdgeSecret))), sha256.Sum256([]byte(s.EdgeSecret))
	if subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
		return nil
	}
	return invalidEdgeSecret.with("X-Edge-Secret is not the secret of this origin; start the origin and its workers with the same --edge-secret.")
}

func readEdge(x *exchange, r *http.Request) (job, *problem) {
	share, p := x.readEdgeRequest(r)
	j := job{style: share.style(), price: share.Points}
	j.work = func(ctx context.Context) (outcome, *problem) { return x.finishEdge(ctx, &share) }
	return j, p
}

func (x *exchange) finishEdge(ctx context.Context, share *edgeRequest) (outcome, *problem) {
	lookups, p := x.lookUpDomains(ctx, share)
	if p != nil {
		return outcome{}, p
	}
	return share.outcome(lookups), nil
}

// lookUpShare is in the order of the share's domains.
func (x *exchange) lookUpDomains(ctx context.Context, share *edgeRequest) ([]lookup, *problem) {
	if share.Operation == opSingle {
		return x.lookUpSingle(ctx, share.Domains)
	}
	ctx, cancel := x.workContext(ctx)
	defer cancel()
	known, err := x.lookUpAll(ctx, share.names())
	if err != nil {
		return nil, x.workProblem(ctx, err)
	}
	lookups := make([]lookup, len(share.Domains))
	for n, d := range share.Domains {
		lookups[n] = known[d.Name]
	}
	return lookups, nil
}

// lookUpSingle asks for the domain of a single request, if it has one. A
// look-up that fails is the request's problem.
func (x *exchange) lookUpSingle(ctx context.Context, domains []domain) ([]lookup, *problem) {
	lookups := make([]lookup, len(domains))
	for n, d := range domains {
		mx, err := x.lookUp(ctx, d.Name)
		if err != nil {
			return nil, lookupProblem(err)
		}
		lookups[n] = lookup{finished: true, mx: mx}
	}
	return lookups, nil
}

func appendEdgeResponse(dst []byte, lookups []lookup) []byte {
	partial := false
	dst = append(dst, `{"mx":[`...)
	for n, l := range lookups {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = l.append(dst)
		partial = partial || !l.finished
	}
	dst = append(dst, `],"partial":`...)
	return append(strconv.AppendBool(dst, partial), '}')
}

func (l lookup) append(dst []byte) []byte {
	switch {
	case !l.finished:
		return append(dst, "null"...)
	case l.err != nil:
		code, _ := itemError(l.err, "")
		return strconv.AppendQuote(dst, code)
	}
	return strconv.AppendBool(dst, l.mx)
}
