package mx

import (
	"context"
	"time"

	"github.com/miekg/dns"
)

// records are those that a lookup looks for.
type records uint8

const (
	mxRecords records = iota
	addressRecords
)

// queryTypes are the types to query, the next one if the name exists and has no records of
// the ones before. More domains have A records than AAAA.
var queryTypes = [...][]uint16{mxRecords: {dns.TypeMX}, addressRecords: {dns.TypeA, dns.TypeAAAA}}

// inquiry is how the questions of one lookup are asked.
type inquiry struct {
	servers []*server
	end     time.Time // when the lookup times out
	trust   bool      // replies are believed even if Config.Strict forbids it
	any     bool      // any reply will do, and none is decided on
}

// resolve asks for the records of s.
func (r *Resolver) resolve(ctx context.Context, q inquiry, s subject) (a result, err *Error) {
	ttl := forever
	for _, qtype := range queryTypes[s.about] {
		a, err = r.follow(ctx, q, s.name+".", qtype)
		if err != nil || a.found {
			return a, err
		}
		ttl = min(ttl, a.ttl)
		if !a.noData {
			break // NXDOMAIN is about all types (RFC 2308 section 2.1)
		}
	}
	a.ttl = ttl
	return a, nil
}

const maxHops = 10 // CNAMEs followed in one lookup

// follow asks for the records of name that have a type and, if the reply ends at a CNAME, for
// those of its target. A recursive resolver follows CNAMEs itself; a server that is only
// authoritative stops where its zones end.
func (r *Resolver) follow(ctx context.Context, q inquiry, name string, qtype uint16) (result, *Error) {
	ttl, hops := forever, 0
	for {
		a, err := r.ask(ctx, q, name, qtype)
		if err != nil {
			return result{}, err
		}
		ttl, hops = min(ttl, a.ttl), hops+a.hops
		if hops > maxHops {
			return result{}, &Error{Kind: Failure, Reason: Loop}
		}
		if a.target == "" {
			a.ttl = ttl
			return a, nil
		}
		name = a.target
	}
}

// ask asks the servers for the records of name that have a type, one after the other, until a
// reply has a result or the lookup times out.
//
// A server that is silent for an interval, which doubles each time, is asked again after the
// others: a lost packet or a dead server costs one interval, and a slow one is still heard. A
// server that fails is asked once more, because a SERVFAIL or REFUSED may be a hiccup: after
// the others, or after a pause if it is the only one. All have failed once each of them has,
// and two queries have.
func (r *Resolver) ask(ctx context.Context, q inquiry, name string, qtype uint16) (result, *Error) {
	queue, interval := inOrder(q.servers), r.config.interval
	var silent []*server
	failed, failures := map[*server]bool{}, 0
	failure := &Error{Kind: Timeout, Reason: NoReply, Server: queue[0].address}
	for ctx.Err() == nil && time.Now().Before(q.end) {
		s := queue[0]
		queue = queue[1:]
		until := time.Now().Add(interval)
		if q.end.Sub(until) < interval {
			until = q.end // the last query gets what is left
		}
		a, err := r.askServer(ctx, q, s, until, name, qtype)
		switch {
		case err == nil:
			for _, late := range silent {
				if late != s {
					late.markLate()
				}
			}
			return a, nil
		case err.Kind == Timeout:
			silent, queue = append(silent, s), append(queue, s)
			interval *= 2
			continue
		case err.Reason == Unreachable:
			s.markLate()
		}
		if failures == 0 {
			failure = err
		}
		failures++
		if !failed[s] {
			failed[s], queue = true, append(queue, s)
		}
		if failures > 1 && len(failed) == len(q.servers) {
			break
		}
		if queue[0] == s {
			select {
			case <-time.After(r.config.pause):
			case <-ctx.Done():
			}
		}
	}
	return result{}, failure
}

// askServer asks one server and decides on its reply.
func (r *Resolver) askServer(ctx context.Context, q inquiry, s *server, until time.Time, name string, qtype uint16) (a result, err *Error) {
	reply, err := r.exchange(ctx, s, until, name, qtype)
	if err == nil && !q.any {
		a, err = decide(reply, name, qtype)
	}
	if err == nil && !q.any && !q.trust {
		err = r.doubt(s, a)
	}
	if err != nil {
		err.Server = s.address
	}
	return a, err
}
