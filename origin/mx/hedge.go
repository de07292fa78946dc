package mx

import (
	"context"
	"time"
)

const (
	minQueries    = 4 // queries a race sends in all before it only waits
	serverQueries = 2 // and to each server, where they are many
	maxUnheard    = 2 // times a server may be unreachable before it is left out
	paceGrowth    = 2
)

// race is one question put to the servers in turn: to the next one whenever
// the pace says so or one has failed, each listening on until one has won. So
// a lost packet costs one step of the pace, a dead server no more, and a slow
// one can still answer.
type race struct {
	query   func(context.Context, *server) (answer, *Error)
	start   func(func()) // runs a function on a goroutine that Close waits for
	lanes   []lane
	pace    time.Duration
	left    int // queries yet to be sent
	running int
	results chan result
}

// lane is a server's part in a race.
type lane struct {
	*server
	sent, unheard int
	out           bool   // it has failed for good
	err           *Error // the most informative so far
}

type result struct {
	lane   *lane
	answer answer
	err    *Error
}

func (r *Resolver) newRace(query func(context.Context, *server) (answer, *Error)) *race {
	left := max(minQueries, serverQueries*len(r.servers))
	return &race{
		query: query, start: r.work.Go, lanes: r.line(), pace: r.hedge,
		left: left, results: make(chan result, left),
	}
}

// run returns the first answer that says something, or the most informative error
// once every server has failed or time is out.
func (c *race) run(ctx context.Context) (answer, *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the losers' sockets
	step := time.NewTimer(c.pace)
	defer step.Stop()
	c.send(ctx)
	for !c.over(ctx) {
		select {
		case <-step.C:
			c.send(ctx)
			c.pace *= paceGrowth
			step.Reset(c.pace)
		case res := <-c.results:
			c.running--
			if res.err == nil {
				c.won(res.lane)
				return res.answer, nil
			}
			c.failed(ctx, res)
		}
	}
	return answer{}, c.worst()
}

// send queries the server asked least so far, if one is left.
func (c *race) send(ctx context.Context) {
	lane := c.next()
	if lane == nil || c.left == 0 || ctx.Err() != nil {
		return
	}
	c.left--
	c.running++
	lane.sent++
	c.start(func() {
		a, err := c.query(ctx, lane.server)
		c.results <- result{lane, a, err}
	})
}

func (c *race) next() (least *lane) {
	for i := range c.lanes {
		if l := &c.lanes[i]; !l.out && (least == nil || l.sent < least.sent) {
			least = l
		}
	}
	return least
}

// failed notes an error. A server that has answered is not asked again, one that
// is unreachable once more; another that was not asked yet is asked at once.
func (c *race) failed(ctx context.Context, res result) {
	l := res.lane
	l.err = worse(l.err, res.err)
	if res.err.Reason == Unreachable {
		l.late()
		l.unheard++
	}
	l.out = l.out || res.err.Kind == Failure && (res.err.Reason != Unreachable || l.unheard >= maxUnheard)
	if n := c.next(); n != nil && n.sent == 0 {
		c.send(ctx)
	}
}

// over reports whether nothing more can come: every server has failed, or time
// is out and all queries have come back.
func (c *race) over(ctx context.Context) bool {
	return c.next() == nil || c.running == 0 && (c.left == 0 || ctx.Err() != nil)
}

// won notes, for the order of later races, the servers asked before the winner
// that were still silent when it won.
func (c *race) won(winner *lane) {
	for i := range c.lanes {
		l := &c.lanes[i]
		if l == winner {
			return
		}
		if l.sent > 0 && !l.out {
			l.late()
		}
	}
}

// worst is the most informative error of all. If no query was sent in time, it
// is a timeout.
func (c *race) worst() *Error {
	var worst *Error
	for i := range c.lanes {
		worst = worse(worst, c.lanes[i].err)
	}
	if worst == nil {
		return &Error{Kind: Timeout, Reason: NoAnswer, Server: c.lanes[0].address}
	}
	return worst
}
