package mx

import (
	"context"
	"time"
)

const (
	minQueries       = 4 // queries a race sends in all before it only waits
	queriesPerServer = 2 // and to each server, where they are many
	maxUnreachable   = 2 // times a server may be unreachable before it is left out
	intervalGrowth   = 2
)

// race is one question put to the servers in turn: to the next one whenever
// the pace says so or one has failed, each listening on until one has won. So
// a lost packet costs one step of the pace, a dead server no more, and a slow
// one can still answer.
type hedgedQuery struct {
	query       func(context.Context, *server) (answer, *Error)
	start       func(func()) // runs a function on a goroutine that Close waits for
	servers     []serverState
	interval    time.Duration
	queriesLeft int // queries yet to be sent
	running     int
	results     chan queryResult
}

// lane is a server's part in a race.
type serverState struct {
	*server
	sent, unreachable int
	failed            bool   // it has failed for good
	err               *Error // the most informative so far
}

type queryResult struct {
	server *serverState
	answer answer
	err    *Error
}

func (r *Resolver) newHedgedQuery(query func(context.Context, *server) (answer, *Error)) *hedgedQuery {
	left := max(minQueries, queriesPerServer*len(r.servers))
	return &hedgedQuery{
		query: query, start: r.goroutines.Go, servers: r.serverOrder(), interval: r.hedge,
		queriesLeft: left, results: make(chan queryResult, left),
	}
}

// run returns the first answer that says something, or the most informative error
// once every server has failed or time is out.
func (c *hedgedQuery) run(ctx context.Context) (answer, *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the losers' sockets
	step := time.NewTimer(c.interval)
	defer step.Stop()
	c.send(ctx)
	for !c.done(ctx) {
		select {
		case <-step.C:
			c.send(ctx)
			c.interval *= intervalGrowth
			step.Reset(c.interval)
		case res := <-c.results:
			c.running--
			if res.err == nil {
				c.markLate(res.server)
				return res.answer, nil
			}
			c.handleError(ctx, res)
		}
	}
	return answer{}, c.bestError()
}

// send queries the server asked least so far, if one is left.
func (c *hedgedQuery) send(ctx context.Context) {
	lane := c.leastAsked()
	if lane == nil || c.queriesLeft == 0 || ctx.Err() != nil {
		return
	}
	c.queriesLeft--
	c.running++
	lane.sent++
	c.start(func() {
		a, err := c.query(ctx, lane.server)
		c.results <- queryResult{lane, a, err}
	})
}

func (c *hedgedQuery) leastAsked() (least *serverState) {
	for i := range c.servers {
		if l := &c.servers[i]; !l.failed && (least == nil || l.sent < least.sent) {
			least = l
		}
	}
	return least
}

// failed notes an error. A server that has answered is not asked again, one that
// is unreachable once more; another that was not asked yet is asked at once.
func (c *hedgedQuery) handleError(ctx context.Context, res queryResult) {
	l := res.server
	l.err = moreInformative(l.err, res.err)
	if res.err.Reason == Unreachable {
		l.markLate()
		l.unreachable++
	}
	l.failed = l.failed || res.err.Kind == Failure && (res.err.Reason != Unreachable || l.unreachable >= maxUnreachable)
	if n := c.leastAsked(); n != nil && n.sent == 0 {
		c.send(ctx)
	}
}

// over reports whether nothing more can come: every server has failed, or time
// is out and all queries have come back.
func (c *hedgedQuery) done(ctx context.Context) bool {
	return c.leastAsked() == nil || c.running == 0 && (c.queriesLeft == 0 || ctx.Err() != nil)
}

// won notes, for the order of later races, the servers asked before the winner
// that were still silent when it won.
func (c *hedgedQuery) markLate(winner *serverState) {
	for i := range c.servers {
		l := &c.servers[i]
		if l == winner {
			return
		}
		if l.sent > 0 && !l.failed {
			l.markLate()
		}
	}
}

// worst is the most informative error of all. If no query was sent in time, it
// is a timeout.
func (c *hedgedQuery) bestError() *Error {
	var worst *Error
	for i := range c.servers {
		worst = moreInformative(worst, c.servers[i].err)
	}
	if worst == nil {
		return &Error{Kind: Timeout, Reason: NoAnswer, Server: c.servers[0].address}
	}
	return worst
}
