package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"

	"github.com/addrspec/addrspec/origin/ledger"
)

// POST /v1/edge/admit does for a worker what only the origin can: it decides
// the caller's key, rate and points, and asks DNS. The worker runs the module
// itself, so no address comes here, only domains.
//
// Request headers:
//
//	X-Edge-Secret                 the deployment's secret (--edge-secret)
//	X-API-Key or Authorization    the caller's key
//	X-Request-Id                  the request's id
//
// Request body, JSON:
//
//	operation  "single" or "batch"; it decides the shape of refusals
//	points     what the work costs, one for each distinct address, at most 64;
//	           0 for input the worker refuses: only key and rate are decided
//	domains    at most 64 objects: name, an A-label domain, and addresses, how
//	           many of the points hang on it; addresses without a domain to ask
//	           (not valid, or a literal) are in points alone
//
// 200 carries the X-Usage-* headers of the answer and
//
//	mx       in the order of domains: true, false, "DNS_TIMEOUT", "DNS_FAILURE",
//	         or null for what a deadline left undone and was given back
//	partial  whether a null stands among them
//
// 403 INVALID_EDGE_SECRET and 400 INVALID_REQUEST speak to the worker. Every
// other refusal (401, 402, 429, 500, 503) is the answer the caller is due, in
// its final shape: the worker passes it on. A worker that is gone before the
// answer is charged nothing.
const (
	edgePath         = "/v1/edge/admit"
	headerEdgeSecret = "X-Edge-Secret"
)

func (s *Server) edge(r *http.Request) response {
	if !s.isEdge(r.Header) {
		return invalidEdgeSecret.with("X-Edge-Secret is not the secret of this origin; start it and its workers with the same --edge-secret.").response()
	}
	key, refusal := readKey(r.Header)
	if refusal != nil {
		return refusal.response()
	}
	share, bad := readShare(r)
	admission, refused := s.admit(r.Context(), ledger.Request{Key: key, Points: share.Points})
	switch {
	case refused != nil && share.Operation == opSingle:
		return singleRefusal(admission, refused)
	case refused != nil:
		return *refused
	case bad != nil:
		answer := bad.response()
		answer.usage = &admission.Usage
		return answer
	case share.Operation == opSingle:
		return s.shareSingle(r.Context(), admission, share)
	}
	return s.shareBatch(r.Context(), admission, share)
}

// isEdge compares in constant time; hashes, so that the length tells nothing.
func (s *Server) isEdge(h http.Header) bool {
	given, want := sha256.Sum256([]byte(h.Get(headerEdgeSecret))), sha256.Sum256([]byte(s.EdgeSecret))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// shareSingle asks for the one domain of a single validation.
func (s *Server) shareSingle(ctx context.Context, admission ledger.Admission, share share) response {
	items := make([]item, len(share.Domains))
	for n, domain := range share.Domains {
		mx, refusal := s.lookUpPaid(ctx, admission, domain.Name)
		if refusal != nil {
			return *refusal
		}
		items[n] = item{finished: true, mx: mx}
	}
	return s.concludeShare(ctx, admission, share, items)
}

// shareBatch asks for all domains side by side.
func (s *Server) shareBatch(ctx context.Context, admission ledger.Admission, share share) response {
	items, err := s.sideBySide(ctx, len(share.Domains), func(ctx context.Context, n int) (i item) {
		i.mx, i.dns = s.lookUp(ctx, share.Domains[n].Name)
		return i
	})
	if err != nil {
		return s.giveBack(ctx, admission, share.Points, err)
	}
	return s.concludeShare(ctx, admission, share, items)
}

// concludeShare gives back what hangs on domains that were not finished, or
// all where nothing was or nobody waits any more.
func (s *Server) concludeShare(ctx context.Context, admission ledger.Admission, share share, items []item) response {
	left := share.unfinished(items)
	if share.Points > 0 && (left == share.Points || ctx.Err() != nil) {
		return s.giveBack(ctx, admission, share.Points, nil)
	}
	return s.conclude(ctx, admission, appendShare(nil, items, left > 0), ledger.Settlement{Refund: left})
}

func appendShare(dst []byte, items []item, partial bool) []byte {
	dst = append(dst, `{"mx":[`...)
	for n := range items {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = items[n].appendMX(dst)
	}
	dst = append(dst, `],"partial":`...)
	return append(strconv.AppendBool(dst, partial), '}')
}

func (i *item) appendMX(dst []byte) []byte {
	switch {
	case !i.finished:
		return append(dst, "null"...)
	case i.dns != nil:
		code, _ := itemError(i.dns, "")
		return strconv.AppendQuote(dst, code)
	}
	return strconv.AppendBool(dst, i.mx)
}
