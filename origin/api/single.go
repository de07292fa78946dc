package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// single is GET /v1/email/{email}. It costs one point, only if it answers 200.
var single = &operation{name: "single", style: singleStyle, read: readSingle}

// readSingle runs the module on the address in the path. If it is not valid, it
// returns a problem.
func readSingle(x *exchange, r *http.Request) (job, *problem) {
	email, p := pathAddress(r)
	if p != nil {
		return job{}, p
	}
	details, p := queryDetails(r.URL.RawQuery)
	if p != nil {
		return job{}, p
	}
	facts, err := x.Engine.Check(x.request.Context(), nil, email, x.Flags|details)
	switch {
	case err != nil:
		return job{}, x.moduleProblem(x.request.Context(), err)
	case !facts.Valid:
		return job{}, invalidFormat.with(sentence(facts.Refusal.Sentence))
	}
	x.facts = facts
	return job{price: 1, work: (*exchange).finishSingle}, nil
}

// pathAddress returns the part of the path after the prefix, percent-decoded
// once.
func pathAddress(r *http.Request) (string, *problem) {
	encoded, found := strings.CutPrefix(r.URL.EscapedPath(), singlePrefix)
	if !found || encoded == "" {
		return "", missingEmail.with(textNoAddress)
	}
	email, err := url.PathUnescape(encoded)
	if err != nil || hasBrokenPercent(r.RequestURI) {
		return "", invalidFormat.with(textBrokenPercent)
	}
	return email, nil
}

// finishSingle adds the MX look-up.
func (x *exchange) finishSingle(ctx context.Context) (outcome, *problem) {
	mx, err := x.lookUp(ctx, x.facts.Host)
	if err != nil {
		return outcome{}, lookupProblem(err)
	}
	done := outcome{points: 1}
	tallyFacts(&done.found, &x.facts)
	done.body = x.facts.Result(mx)
	return done, nil
}
