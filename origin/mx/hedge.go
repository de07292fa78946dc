package mx

import (
	"context"
	"time"
)

const (
	minQueries       = 4 // most queries for one question, if there are one or two servers
	queriesPerServer = 2 // most queries for each server, if there are more
	maxUnreachable   = 2 // times a server may be unreachable before it is left out
	intervalGrowth   = 2
)

// hedgedQuery sends one question to the servers in turn: to the next one
// whenever the interval has passed or a server has failed. All replies are
// awaited until one answers. A lost packet or a dead server therefore delays the
// answer by one interval, and a slow server can still answer.
type hedgedQuery struct {
	query       func(context.Context, *server, *udpQuery) (answer, *Error)
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
	answer answer
	err    *Error
}

func (r *Resolver) newHedgedQuery(query func(context.Context, *server, *udpQuery) (answer, *Error)) *hedgedQuery {
	left := max(minQueries, queriesPerServer*len(r.servers))
	return &hedgedQuery{
		query: query, start: r.goroutines.Go, servers: r.serverOrder(), interval: r.hedge,
		queriesLeft: left, results: make(chan queryResult, left),
	}
}

// run returns the first answer, or the most informative error once every server
// has failed or ctx has ended. If sent is not nil, it is the first query.
func (h *hedgedQuery) run(ctx context.Context, sent *udpQuery) (answer, *Error) {
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

// coordinate sends further queries, the next one after wait, until one is answered.
func (h *hedgedQuery) coordinate(ctx context.Context, wait time.Duration) (answer, *Error) {
	step := time.NewTimer(wait)
	defer step.Stop()
	for !h.done(ctx) {
		select {
		case <-step.C:
			h.send(ctx)
			h.interval *= intervalGrowth
			step.Reset(h.interval)
		case res := <-h.results:
			h.running--
			if res.err == nil {
				h.markLate(res.server)
				return res.answer, nil
			}
			h.handleError(ctx, res)
		}
	}
	return answer{}, h.bestError()
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

// done reports whether no further answer can arrive: every server has failed, or
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
		return &Error{Kind: Timeout, Reason: NoAnswer, Server: h.servers[0].address}
	}
	return best
}
