package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// single answers GET /v1/email/{email}. It costs a point, and only when it
// answers 200.
func (s *Server) single(r *http.Request) response {
	key, refusal := readKey(r.Header)
	if refusal != nil {
		return refusal.response()
	}
	facts, bad := s.checkPath(r)
	request := ledger.Request{Key: key, Points: 1}
	if bad != nil {
		request.Points = 0
	}
	admission, refused := s.admit(r.Context(), request)
	if refused != nil {
		return singleRefusal(admission, refused)
	}
	if bad != nil {
		answer := bad.response()
		answer.usage = &admission.Usage
		return answer
	}
	return s.complete(r, admission, &facts)
}

// checkPath runs the module on the address in the path.
func (s *Server) checkPath(r *http.Request) (facts host.Answer, bad *fault) {
	email, bad := pathAddress(r)
	if bad != nil {
		return facts, bad
	}
	facts, err := s.Engine.Check(r.Context(), nil, email, s.Flags)
	switch {
	case err != nil:
		return facts, s.moduleFault(r.Context(), err)
	case !facts.Valid:
		return facts, invalidFormat.with(sentence(facts.Refusal.Sentence))
	}
	return facts, nil
}

// pathAddress is the last part of the path, percent-decoded once.
func pathAddress(r *http.Request) (string, *fault) {
	encoded, found := strings.CutPrefix(r.URL.EscapedPath(), singlePrefix)
	if !found || encoded == "" {
		return "", missingEmail.with("The path ends where the address should stand: GET /v1/email/{email}, the address percent-encoded.")
	}
	email, err := url.PathUnescape(encoded)
	if err != nil {
		return "", invalidFormat.with("A percent sign in the path is not followed by two hexadecimal digits; encode a percent sign as %25.")
	}
	return email, nil
}

// complete adds what DNS says.
func (s *Server) complete(r *http.Request, admission ledger.Admission, facts *host.Answer) response {
	mx, refusal := s.lookUpPaid(r.Context(), admission, facts.Host)
	if refusal != nil {
		return *refusal
	}
	return ok(facts.AppendResult(nil, mx), admission.Usage)
}

// lookUpPaid asks for the MX that a point was charged for. A look-up that
// failed costs nothing.
func (s *Server) lookUpPaid(ctx context.Context, admission ledger.Admission, domain string) (mx bool, refusal *response) {
	mx, err := s.lookUp(ctx, domain)
	if err == nil {
		return mx, nil
	}
	usage, settleErr := s.settle(ctx, admission, ledger.Settlement{Refund: 1, Failed: true})
	answer := dnsUnavailable(err).response()
	if settleErr == nil {
		answer.usage = &usage
	}
	return false, &answer
}

// singleRefusal turns the batch's 402 into the single's 429: too few points is
// a limit that passes with the month.
func singleRefusal(a ledger.Admission, refused *response) response {
	if a.Verdict != ledger.Insufficient {
		return *refused
	}
	f := tooMany.with("The month's usage points are used up; " + waitForRefill(a.RetryAfter))
	f.retryAfter = a.RetryAfter
	answer := f.response()
	answer.usage = refused.usage
	return answer
}
