package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// single is GET /v1/email/{email}. It costs one point, only if it returns 200.
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
	name, p := queryPolicy(r.URL.RawQuery)
	if p == nil {
		p = x.loadPolicy(name)
	}
	if p != nil {
		return job{}, p
	}
	if x.request.Test() {
		return testJob(func(x *exchange, ctx context.Context) (outcome, *problem) { return x.testSingle(ctx, email, details) }), nil
	}
	x.view = x.Engine.View()
	facts, err := x.view.Check(x.request.Context(), nil, email, x.Flags|details)
	switch {
	case err != nil:
		return job{}, x.moduleProblem(x.request.Context(), err)
	case !facts.Valid:
		return job{}, invalidFormat.with(sentence(facts.Refusal.Sentence))
	}
	x.facts = facts
	return job{price: 1, work: (*exchange).finishSingle}, nil
}

// pathAddress returns the part of the path after the prefix. net/url has decoded it
// once.
func pathAddress(r *http.Request) (string, *problem) {
	email, found := strings.CutPrefix(r.URL.Path, singlePrefix)
	if !found || email == "" {
		return "", missingEmail.with(textNoAddress)
	}
	return email, nil
}

// finishSingle adds the lookup.
func (x *exchange) finishSingle(ctx context.Context) (outcome, *problem) {
	found, err := x.lookUp(ctx, x.facts.Host, x.facts.Exchange.Length > 0 || x.policy.WantsAddress())
	if err != nil {
		return outcome{}, lookupProblem(err)
	}
	if err := x.view.Resolve(ctx, &x.facts, found); err != nil {
		return outcome{}, x.moduleProblem(ctx, err)
	}
	done := outcome{points: 1}
	tallyFacts(&done.found, &x.facts)
	done.body = x.facts.Result()
	if x.policy == nil {
		return done, nil
	}
	verdict, err := x.view.Verdict(ctx, nil, x.policy, host.Subject{Facts: &x.facts, Found: found.Found()})
	if err != nil {
		return outcome{}, x.moduleProblem(ctx, err)
	}
	done.body = host.AppendVerdict(done.body, verdict)
	return done, nil
}

// usage is GET /v1/usage: what the account has used and has left. Like every
// request it takes a token of the rate; it costs no points.
var usage = &operation{name: "usage", style: singleStyle, read: readUsage}

func readUsage(_ *exchange, _ *http.Request) (job, *problem) {
	return job{work: func(x *exchange, _ context.Context) (outcome, *problem) {
		decision, err := x.request.Inspect()
		if p := x.judge(decision, err, 0); p != nil {
			return outcome{}, p
		}
		return outcome{body: encode(reportOf(decision, time.Now()))}, nil
	}}, nil
}

// A usageReport is the JSON of the response; null means unlimited.
type usageReport struct {
	Points struct {
		Used      int64     `json:"used"`      // this month
		Limit     *int64    `json:"limit"`     // a month
		Remaining *int64    `json:"remaining"` // without the points of requests in progress
		Overage   bool      `json:"overage"`   // used may exceed limit
		Refill    time.Time `json:"refill"`    // when used becomes 0
	} `json:"points"`
	Rate struct {
		Limit     *int64 `json:"limit"`     // requests a second
		Remaining *int64 `json:"remaining"` // requests that may be sent now
	} `json:"rate"`
	Policy string `json:"policy,omitempty"` // the name of the key's default policy
}

func reportOf(d ledger.Decision, now time.Time) (r usageReport) {
	limited := func(n int64) *int64 {
		if n == ledger.Unlimited {
			return nil
		}
		return &n
	}
	r.Points.Used, r.Points.Overage = d.Usage.Current, d.Quota.Overage
	r.Points.Limit, r.Points.Remaining = limited(d.Usage.Limit), limited(d.Remaining)
	r.Points.Refill = now.Add(d.Quota.Refill).UTC().Round(time.Second)
	r.Rate.Limit, r.Rate.Remaining = limited(d.Quota.Rate), limited(d.Quota.Tokens)
	r.Policy = d.Quota.Policy
	return r
}

// A lookup is the outcome of the lookup of one domain. The zero value is an
// unfinished one.
type lookup struct {
	finished bool
	found    host.Lookup
	err      error // the lookup timed out or failed
}

// lookUp looks up the MX records of domain and, if details want it and mail would go
// there, whether it has an address record. The domain of an address literal is empty and
// has neither.
func (x *exchange) lookUp(ctx context.Context, domain string, details bool) (host.Lookup, error) {
	if known, ok := x.cached(domain, details); ok {
		return known.found, known.err
	}
	if err := x.reserveLookups(ctx, 0); err != nil {
		return host.Lookup{}, err
	}
	return x.find(ctx, domain, details)
}

// find looks a domain up with the resolver.
func (x *exchange) find(ctx context.Context, domain string, details bool) (host.Lookup, error) {
	lookUp := x.Resolver.Lookup
	if details {
		lookUp = x.Resolver.LookupAddress
	}
	found, err := lookUp(ctx, x.request.Account(), domain)
	return found.Lookup(), err
}

// lookUpAll looks the domains up in parallel, until all are known or ctx ends.
// Cached responses are returned without a goroutine. It returns an error if a
// lookup panics, too many lookups wait or there is no memory for them.
func (x *exchange) lookUpAll(ctx context.Context, domains []string, details bool) (map[string]lookup, error) {
	known := make(map[string]lookup, len(domains))
	var missing []string
	for _, domain := range domains {
		if _, again := known[domain]; again {
			continue
		}
		l, ok := x.cached(domain, details)
		if known[domain] = l; !ok {
			missing = append(missing, domain)
		}
	}
	return known, x.askAll(ctx, missing, details, known)
}

// askAll looks the domains up, each on a goroutine, and adds the lookups to known.
func (x *exchange) askAll(ctx context.Context, domains []string, details bool, known map[string]lookup) error {
	if len(domains) == 0 {
		return nil
	}
	if err := x.reserveLookups(ctx, len(domains)); err != nil {
		if ctx.Err() != nil {
			return nil // they are unfinished
		}
		return err
	}
	results := make(chan lookupResult, len(domains)) // buffered, so that no sender blocks
	for _, domain := range domains {
		go func() { results <- x.ask(ctx, domain, details) }()
	}
	return collect(ctx, results, len(domains), known)
}

// A lookupResult is the result of a lookup in its own goroutine.
type lookupResult struct {
	domain  string
	lookup  lookup
	failure error // fails the whole request
}

// cached returns the lookup of domain if it needs no query.
func (s *Server) cached(domain string, details bool) (l lookup, ok bool) {
	if domain == "" {
		return lookup{finished: true}, true
	}
	peek := s.Resolver.Peek
	if details {
		peek = s.Resolver.PeekAddress
	}
	found, known, err := peek(domain)
	return lookup{finished: known, found: found.Lookup(), err: err}, known
}

// ask looks one domain up and recovers from panics. A lookup that ended because
// of ctx is unfinished, not failed.
func (x *exchange) ask(ctx context.Context, domain string, details bool) (a lookupResult) {
	a.domain = domain
	defer func() {
		if cause := recover(); cause != nil {
			a.failure = panicError(cause)
		}
	}()
	found, err := x.find(ctx, domain, details)
	switch {
	case limited(err):
		a.failure = err
	case err == nil || ctx.Err() == nil:
		a.lookup = lookup{finished: true, found: found, err: err}
	}
	return a
}

// collect adds the results to known. Results after the end of ctx stay in the
// channel, so a late lookup never modifies a response that is being sent.
func collect(ctx context.Context, results <-chan lookupResult, asked int, known map[string]lookup) error {
	for range asked {
		select {
		case a := <-results:
			if a.failure != nil {
				return a.failure
			}
			known[a.domain] = a.lookup
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// limited reports whether a lookup was refused because too many wait. That is a
// problem of the whole request, not of the domain.
func limited(err error) bool {
	var failure *mx.Error
	return errors.As(err, &failure) && failure.Kind == mx.Limited
}

// limitedProblem returns the problem of a request with a refused lookup.
func limitedProblem(err error) *problem {
	var failure *mx.Error
	if errors.As(err, &failure) && failure.Reason == mx.GlobalLimit {
		return unavailable("Too many DNS lookups are waiting; nothing was charged. Try again shortly.")
	}
	return retryAfter(tooMany.with("Rate limit exceeded: the account has too many DNS lookups waiting; wait 1 seconds, and send fewer requests at a time."), time.Second)
}

// lookupProblem returns the problem of a single request whose lookup failed.
func lookupProblem(err error) *problem {
	if p := memoryProblem(err); p != nil {
		return p
	}
	if limited(err) {
		return limitedProblem(err)
	}
	if mx.IsTimeout(err) {
		return unavailable("The DNS lookup of the domain timed out, so its MX is not known; nothing was charged. Try again shortly.")
	}
	return unavailable("The DNS lookup of the domain failed, so its MX is not known; nothing was charged. Try again shortly.")
}

// tallyFacts adds the facts of one address to found.
func tallyFacts(found *ledger.Found, facts *host.Facts) {
	f := result.FlagsOf(facts)
	found.Valid += one(f.Valid)
	found.Invalid += one(!f.Valid)
	found.Role += one(f.Role)
	found.Gibberish += one(f.Gibberish)
	found.Disposable += one(f.Disposable)
	found.Public += one(f.Public)
	found.Relay += one(f.Relay)
	found.Typo += one(f.Typo)
}

// one returns 1 for true and 0 for false.
func one(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// tally adds a finished item to found.
func (i *item) tally(found *ledger.Found) {
	if i.lookup.err != nil {
		found.LookupErrors++
		return
	}
	tallyFacts(found, &i.facts)
}
