package mx

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// firstQuery is the first query of a flight. It usually settles the lookup, so the
// goroutine that begins the flight also waits for the reply: starting another one for
// that took half of a lookup's processor time. It waits no longer than until the
// second query is due or until it is interrupted, then a [hedgedQuery] takes the query
// over.
type firstQuery struct {
	mu          sync.Mutex
	query       *udpQuery
	waits       bool // a goroutine waits for the reply
	interrupted bool // it shall not, or no longer
}

// askFirst sends the first query of f and waits for its reply. It reports whether that
// has the result.
func (r *Resolver) askFirst(ctx context.Context, f *flight) (a result, settled bool) {
	u := r.sendUDP(r.firstServer(), newQuestion(f.name+".", f.about.types()[0]))
	f.first.query = u
	if !u.finished {
		r.waitFirst(ctx, f, u)
	}
	if !u.finished || u.err != nil || u.reply.Truncated {
		return result{}, false
	}
	a, err := decide(u.reply, &u.question)
	if err != nil || a.target != "" || r.doubt(u.server, a) != nil || a.noData && len(f.about.types()) > 1 {
		return result{}, false
	}
	f.first.take().close()
	return a, true
}

// waitFirst waits for the reply until the second query is due, ctx ends, or the wait is
// interrupted.
func (r *Resolver) waitFirst(ctx context.Context, f *flight, u *udpQuery) {
	if !f.first.begin(u.sent.Add(min(r.hedge, r.timeout))) {
		return
	}
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, f.first.interrupt)()
	}
	defer f.first.end()
	r.receive(u)
	if errors.Is(u.err, os.ErrDeadlineExceeded) {
		u.finished, u.err = false, nil
	}
}

// begin begins a wait until a deadline, if that is not interrupted already.
func (q *firstQuery) begin(until time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.interrupted {
		return false
	}
	q.waits = true
	_ = q.query.conn.SetReadDeadline(until)
	return true
}

// interrupt ends the wait, or prevents it.
func (q *firstQuery) interrupt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.interrupted = true
	if q.waits {
		_ = q.query.conn.SetReadDeadline(past)
	}
}

// end ends the wait and removes the deadline. An interrupt that comes later has no
// effect on who waits then.
func (q *firstQuery) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits = false
	_ = q.query.conn.SetReadDeadline(time.Time{})
}

// take returns the query, which the caller has to close.
func (q *firstQuery) take() *udpQuery {
	u := q.query
	q.query = nil
	return u
}

const maxHops = 10 // CNAMEs followed in one lookup

// resolve queries the records of s, one type after the other. NXDOMAIN is about all types
// (RFC 2308 section 2.1). If sent is not nil, it is the first query.
func (r *Resolver) resolve(ctx context.Context, s subject, sent *udpQuery) (a result, err *Error) {
	ttl := forever
	for _, qtype := range s.about.types() {
		a, err = r.queryType(ctx, s.name+".", qtype, sent)
		if err != nil || a.found {
			return a, err
		}
		ttl = min(ttl, a.ttl)
		if !a.noData {
			break
		}
		sent = nil
	}
	a.ttl = ttl
	return a, nil
}

// queryType queries the records of name that have a type and, if the reply ends at a
// CNAME, those of its target. A recursive resolver follows CNAMEs itself; a server that
// is only authoritative stops where its zones end. If sent is not nil, it is the
// first query for name.
func (r *Resolver) queryType(ctx context.Context, name string, qtype uint16, sent *udpQuery) (result, *Error) {
	ttl, hops := forever, 0
	for {
		a, err := r.query(ctx, name, qtype, sent)
		if err != nil {
			return result{}, err
		}
		ttl, hops = min(ttl, a.ttl), hops+a.hops
		if hops > maxHops {
			return result{}, &Error{Kind: Failure, Reason: Loop}
		}
		if a.target == "" {
			a.ttl, a.hops = ttl, hops
			return a, nil
		}
		name, sent = a.target, nil
	}
}

// query queries the servers for the records of name that have a type. If the reply of
// one proves nothing, another server is asked.
func (r *Resolver) query(ctx context.Context, name string, qtype uint16, sent *udpQuery) (result, *Error) {
	hedged := r.newHedgedQuery(func(ctx context.Context, s *server, sent *udpQuery) (result, *Error) {
		msg, err := r.exchange(ctx, s, name, qtype, sent)
		if err != nil {
			return result{}, err
		}
		a, err := decide(msg, &question{name: name, qtype: qtype})
		if err == nil {
			err = r.doubt(s, a)
		}
		return a, err.withServer(s)
	})
	return hedged.run(ctx, sent)
}

const (
	minQueries       = 4 // most queries for one question, if there are one or two servers
	queriesPerServer = 2 // most queries for each server, if there are more
	maxUnreachable   = 2 // times a server may be unreachable before it is left out
	intervalGrowth   = 2
)

// mostQueries returns the most queries for one question to a number of servers.
func mostQueries(servers int) int { return max(minQueries, queriesPerServer*servers) }

// hedgedQuery sends one question to the servers in turn: to the next one
// whenever the interval has passed or a server has failed. All replies are
// awaited until one has the result. A lost packet or a dead server therefore delays the
// result by one interval, and a slow server can still have it.
type hedgedQuery struct {
	query       func(context.Context, *server, *udpQuery) (result, *Error)
	start       func(func()) // runs a function on a goroutine that Close waits for
	servers     []serverState
	interval    time.Duration
	queriesLeft int // that may still be sent
	running     int
	results     chan queryResult
}

// serverState is the state of one server within a hedgedQuery.
type serverState struct {
	*server
	sent, unreachable int
	failed            bool   // do not ask it again
	err               *Error // the most informative so far
}

type queryResult struct {
	server *serverState
	result result
	err    *Error
}

func (r *Resolver) newHedgedQuery(query func(context.Context, *server, *udpQuery) (result, *Error)) *hedgedQuery {
	left := mostQueries(len(r.servers))
	return &hedgedQuery{
		query: query, start: r.goroutines.Go, servers: r.serverOrder(), interval: r.hedge,
		queriesLeft: left, results: make(chan queryResult, left),
	}
}

// run returns the first result, or the most informative error once every server
// has failed or ctx has ended. If sent is not nil, it is the first query.
func (h *hedgedQuery) run(ctx context.Context, sent *udpQuery) (result, *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the sockets of the other queries
	wait := h.interval
	if sent == nil {
		h.send(ctx)
	} else {
		wait -= time.Since(sent.sent)
		h.ask(ctx, h.stateOf(sent.server), sent)
	}
	return h.coordinate(ctx, wait)
}

// coordinate sends further queries, the next one after wait, until one has the result.
func (h *hedgedQuery) coordinate(ctx context.Context, wait time.Duration) (result, *Error) {
	step := time.NewTimer(wait)
	defer step.Stop()
	for !h.done(ctx) {
		select {
		case <-step.C:
			h.send(ctx)
			h.interval *= intervalGrowth
			step.Reset(h.interval)
		case <-h.idleUntil(ctx):
		case res := <-h.results:
			h.running--
			if res.err == nil {
				h.markLate(res.server)
				return res.result, nil
			}
			h.handleError(ctx, res)
		}
	}
	return result{}, h.bestError()
}

// idleUntil returns a channel that is closed when ctx ends, if no query is running.
// Otherwise it blocks: a query that is running returns then, and its error counts.
func (h *hedgedQuery) idleUntil(ctx context.Context) <-chan struct{} {
	if h.running > 0 {
		return nil
	}
	return ctx.Done()
}

// send queries the server asked least so far, if any may be asked.
func (h *hedgedQuery) send(ctx context.Context) {
	if s := h.leastAsked(); s != nil && h.queriesLeft > 0 && ctx.Err() == nil {
		h.ask(ctx, s, nil)
	}
}

// ask queries s, or waits for the reply to sent if that is a query to s.
func (h *hedgedQuery) ask(ctx context.Context, s *serverState, sent *udpQuery) {
	h.queriesLeft--
	h.running++
	s.sent++
	h.start(func() {
		a, err := h.query(ctx, s.server, sent)
		h.results <- queryResult{s, a, err}
	})
}

func (h *hedgedQuery) stateOf(s *server) *serverState {
	for i := range h.servers {
		if h.servers[i].server == s {
			return &h.servers[i]
		}
	}
	panic("mx: a query to a server that the resolver does not have")
}

func (h *hedgedQuery) leastAsked() (least *serverState) {
	for i := range h.servers {
		if s := &h.servers[i]; !s.failed && (least == nil || s.sent < least.sent) {
			least = s
		}
	}
	return least
}

// handleError records an error. A server that replied is not asked again; an
// unreachable one is asked once more. If a server has not been asked yet, it is
// asked at once.
func (h *hedgedQuery) handleError(ctx context.Context, res queryResult) {
	s := res.server
	s.err = moreInformative(s.err, res.err)
	if res.err.Reason == Unreachable {
		s.markLate()
		s.unreachable++
	}
	s.failed = s.failed || res.err.Kind == Failure && (res.err.Reason != Unreachable || s.unreachable >= maxUnreachable)
	if next := h.leastAsked(); next != nil && next.sent == 0 {
		h.send(ctx)
	}
}

// done reports whether no further result can arrive: every server has failed, or
// no query may be sent and all have returned.
func (h *hedgedQuery) done(ctx context.Context) bool {
	return h.leastAsked() == nil || h.running == 0 && (h.queriesLeft == 0 || ctx.Err() != nil)
}

// markLate marks the servers asked before winner that had not replied when it
// did. Later queries ask them last.
func (h *hedgedQuery) markLate(winner *serverState) {
	for i := range h.servers {
		s := &h.servers[i]
		if s == winner {
			return
		}
		if s.sent > 0 && !s.failed {
			s.markLate()
		}
	}
}

// bestError returns the most informative error of all servers: a timeout if no
// query was sent in time.
func (h *hedgedQuery) bestError() *Error {
	var best *Error
	for i := range h.servers {
		best = moreInformative(best, h.servers[i].err)
	}
	if best == nil {
		return &Error{Kind: Timeout, Reason: NoReply, Server: h.servers[0].address}
	}
	return best
}

const probeTimeout = 2 * time.Second

// Probe queries the resolvers for the NS records of the root. It returns nil if
// one of them replies, with any RCODE, and otherwise the errors of all.
func (r *Resolver) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	hedged := r.newHedgedQuery(func(ctx context.Context, s *server, _ *udpQuery) (result, *Error) {
		_, err := r.exchange(ctx, s, ".", dns.TypeNS, nil)
		return result{}, err
	})
	if _, err := hedged.run(ctx, nil); err == nil {
		return nil
	}
	return hedged.errors()
}

// Verify asks each server for the domains of Config.WithMX, past the cache. lies has an
// error for each server that denies them all: it does not resolve the Internet, or it
// censors. undecided has one for each that neither denies all nor confirms one, such as
// by silence, which is no lie; its earlier verdict remains.
func (r *Resolver) Verify(ctx context.Context) (lies, undecided error) {
	found := make([]*Error, len(r.servers))
	var group sync.WaitGroup
	for n, s := range r.servers {
		group.Go(func() { found[n] = r.verifyServer(ctx, s) })
	}
	group.Wait()
	for _, err := range found {
		switch {
		case err == nil:
		case err.Reason == Lying:
			lies = errors.Join(lies, err)
		default:
			undecided = errors.Join(undecided, err)
		}
	}
	return lies, undecided
}

// verifyServer asks one server and keeps the verdict. It asks with a Resolver of its
// own, which believes the server whatever the verdict was: so it can recover.
func (r *Resolver) verifyServer(ctx context.Context, s *server) *Error {
	if len(r.withMX) == 0 {
		return nil
	}
	alone, err := New(Config{Servers: []string{s.address}, Timeout: r.timeout, Concurrency: maxWithMX, AccountConcurrency: maxWithMX, hedge: r.hedge, cacheEntries: maxWithMX})
	if err != nil {
		return &Error{Kind: Failure, Reason: Unreachable, Server: s.address, Cause: err}
	}
	defer alone.Close()
	found, undecidedErr := alone.findAny(ctx, r.withMX)
	switch {
	case found:
		s.verdict.Store(honest)
	case undecidedErr != nil:
		s.verdict.CompareAndSwap(unverified, undecided)
		return undecidedErr.withServer(s)
	default:
		r.distrust(s)
		return &Error{Kind: Failure, Reason: Lying, Server: s.address}
	}
	return nil
}

// findAny looks the domains up at once, until one has MX records. It returns the error
// of one that could not be looked up, if there is one and none has MX records.
func (r *Resolver) findAny(ctx context.Context, domains []string) (found bool, undecided *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan queryResult, len(domains))
	for _, domain := range domains {
		go func() {
			found, err := r.Lookup(ctx, 0, domain)
			results <- queryResult{result: result{found: found.MX}, err: asError(err)}
		}()
	}
	for range domains {
		got := <-results
		if got.result.found {
			return true, nil
		}
		undecided = moreInformative(undecided, got.err)
	}
	return false, undecided
}

// asError returns the error of a Lookup. If its context ended, that is silence.
func asError(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok || err == nil {
		return failure
	}
	return &Error{Kind: Timeout, Reason: NoReply}
}

// distrust notes that a server lies, before the cache forgets what it may have said: a
// lookup that began before has the old generation, one that begins later sees the verdict.
func (r *Resolver) distrust(s *server) {
	if s.verdict.Swap(lying) != lying && r.strict {
		r.cache.generation.Add(1)
	}
}

// doubt returns an error if the reply of a server must not be believed; see
// Config.Strict.
func (r *Resolver) doubt(s *server, a result) *Error {
	if !r.strict {
		return nil
	}
	switch verdict := s.verdict.Load(); {
	case verdict == lying:
		return &Error{Kind: Failure, Reason: Lying}
	case verdict == unverified && !a.found && a.target == "":
		return &Error{Kind: Failure, Reason: Unproven}
	}
	return nil
}

// Distrusted reports whether lookups fail because of Config.Strict: a server lies, and
// none is known to be honest.
func (r *Resolver) Distrusted() bool {
	return r.strict && r.servers.count(lying) > 0 && r.servers.count(honest) == 0
}

// errors returns the errors of the servers that were queried.
func (h *hedgedQuery) errors() error {
	var all []error
	for i := range h.servers {
		if err := h.servers[i].err; err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (s *server) isLate(now time.Time) bool {
	until := s.lateUntil.Load()
	return until != nil && now.Before(*until)
}

// firstServer returns the first of serverOrder.
func (r *Resolver) firstServer() *server {
	now := time.Now()
	for _, s := range r.servers {
		if !s.isLate(now) {
			return s
		}
	}
	return r.servers[0]
}
