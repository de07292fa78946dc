package mx

import (
	"context"

	"github.com/miekg/dns"
)

const maxHops = 10 // CNAMEs followed in one look-up

// follow asks for the MX of name and, where an answer ends at a CNAME, for that
// of its target. A recursive resolver follows CNAMEs itself; a server that is
// only authoritative stops at the edge of its zones.
func (r *Resolver) lookUpMX(ctx context.Context, name string) (answer, *Error) {
	name += "."
	ttl, hops := forever, 0
	for {
		a, err := r.query(ctx, name)
		if err != nil {
			return answer{}, err
		}
		ttl, hops = min(ttl, a.ttl), hops+a.hops
		if hops > maxHops {
			return answer{}, &Error{Kind: Failure, Reason: Loop}
		}
		if a.target == "" {
			return answer{mx: a.mx, ttl: ttl, hops: hops}, nil
		}
		name = a.target
	}
}

// ask puts the question to the servers. An answer that says nothing is one
// server's failure; another may know.
func (r *Resolver) query(ctx context.Context, name string) (answer, *Error) {
	race := r.newHedgedQuery(func(ctx context.Context, s *server) (answer, *Error) {
		msg, err := r.exchange(ctx, s, name, dns.TypeMX)
		if err != nil {
			return answer{}, err
		}
		a, err := decide(msg, name)
		return a, err.withServer(s)
	})
	return race.run(ctx)
}
