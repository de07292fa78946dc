package mx

import (
	"context"

	"github.com/miekg/dns"
)

const maxHops = 10 // CNAMEs followed in one look-up

// lookUpMX queries the MX records of name and, if the reply ends at a CNAME,
// those of its target. A recursive resolver follows CNAMEs itself; a server that
// is only authoritative stops where its zones end. If sent is not nil, it is the
// first query for name.
func (r *Resolver) lookUpMX(ctx context.Context, name string, sent *udpQuery) (answer, *Error) {
	ttl, hops := forever, 0
	for {
		a, err := r.query(ctx, name, sent)
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
		name, sent = a.target, nil
	}
}

// query queries the servers for the MX records of name. If the reply of one
// proves nothing, another server is asked.
func (r *Resolver) query(ctx context.Context, name string, sent *udpQuery) (answer, *Error) {
	hedged := r.newHedgedQuery(func(ctx context.Context, s *server, sent *udpQuery) (answer, *Error) {
		msg, err := r.exchange(ctx, s, name, dns.TypeMX, sent)
		if err != nil {
			return answer{}, err
		}
		a, err := decide(msg, name)
		return a, err.withServer(s)
	})
	return hedged.run(ctx, sent)
}
