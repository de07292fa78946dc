package mx

import (
	"context"
	"time"

	"github.com/miekg/dns"
)

const (
	minStarts  = 4 // queries a look-up sends before it only waits
	maxUnheard = 2 // times a server may be unreachable before it is left out
	startsEach = 2 // queries to each server, where they are many
	paceGrowth = 2
)

// race is one question put to the servers in turn: to the next one whenever
// the pace says so or one has failed, each listening on until one has won. So
// a lost packet costs one step of the pace, a dead server no more, and a slow
// one is still heard.
type race struct {
	r       *Resolver
	name    string
	lanes   []lane
	running int
	starts  int // queries yet to be sent
	results chan result
	worst   *Error
}

// lane is a server's part in a race.
type lane struct {
	*server
	starts, unheard int
	out             bool
}

type result struct {
	lane   *lane
	answer answer
	err    *Error
}

// race returns the first answer that says something, or the most telling
// error once every server has failed or time is out.
func (r *Resolver) race(ctx context.Context, name string) (answer, *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the losers' sockets
	starts := max(minStarts, startsEach*len(r.servers))
	lanes := r.line()
	silence := &Error{Kind: Timeout, Reason: NoAnswer, Server: lanes[0].address}
	c := &race{r: r, name: name, lanes: lanes, starts: starts, results: make(chan result, starts), worst: silence}
	return c.run(ctx)
}

func (c *race) run(ctx context.Context) (answer, *Error) {
	step := c.r.hedge
	pace := time.NewTimer(step)
	defer pace.Stop()
	c.start(ctx)
	for !c.over(ctx) {
		select {
		case <-pace.C:
			c.start(ctx)
			step *= paceGrowth
			pace.Reset(step)
		case res := <-c.results:
			c.running--
			if res.err == nil {
				c.mark(res.lane)
				return res.answer, nil
			}
			c.fail(ctx, res)
		}
	}
	return answer{}, c.worst
}

// start sends a query to the server asked least so far, if one is left.
func (c *race) start(ctx context.Context) {
	lane := c.next()
	if lane == nil || c.starts == 0 || ctx.Err() != nil {
		return
	}
	c.starts--
	c.running++
	lane.starts++
	c.r.work.Go(func() {
		a, err := c.r.ask(ctx, lane.server, c.name)
		c.results <- result{lane, a, err}
	})
}

func (c *race) next() (least *lane) {
	for i := range c.lanes {
		if l := &c.lanes[i]; !l.out && (least == nil || l.starts < least.starts) {
			least = l
		}
	}
	return least
}

// fail notes an error. A server that has spoken is not asked again, one that
// is unreachable once more; another that was not asked yet is asked at once.
func (c *race) fail(ctx context.Context, res result) {
	c.worst = worse(c.worst, res.err)
	l := res.lane
	if res.err.Reason == Unreachable {
		l.late(c.r.cache.now())
		l.unheard++
	}
	l.out = l.out || res.err.Kind == Failure && (res.err.Reason != Unreachable || l.unheard >= maxUnheard)
	if n := c.next(); n != nil && n.starts == 0 {
		c.start(ctx)
	}
}

// over tells whether nothing more can come: every server has failed, or time
// is out and all queries have come back.
func (c *race) over(ctx context.Context) bool {
	return c.next() == nil || c.running == 0 && (c.starts == 0 || ctx.Err() != nil)
}

// mark notes, for the order of later races, the servers asked before the
// winner that were still silent when it won.
func (c *race) mark(winner *lane) {
	for i := range c.lanes {
		l := &c.lanes[i]
		if l == winner {
			return
		}
		if l.starts > 0 && !l.out {
			l.late(c.r.cache.now())
		}
	}
}

// ask is one exchange and what it says.
func (r *Resolver) ask(ctx context.Context, s *server, name string) (answer, *Error) {
	msg, err := r.exchange(ctx, s, name, dns.TypeMX)
	if err != nil {
		return answer{}, err
	}
	a, err := decide(msg, name)
	if err != nil {
		err.Server = s.address
	}
	return a, err
}
