package mx

import (
	"context"
	"errors"
	"time"

	"github.com/miekg/dns"
)

const probeTimeout = 2 * time.Second

// Probe queries the resolvers for the NS records of the root. It returns nil if
// one of them replies, with any RCODE, and otherwise the errors of all.
func (r *Resolver) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	hedged := r.newHedgedQuery(func(ctx context.Context, s *server, _ *udpQuery) (answer, *Error) {
		_, err := r.exchange(ctx, s, ".", dns.TypeNS, nil)
		return answer{}, err
	})
	if _, err := hedged.run(ctx, nil); err == nil {
		return nil
	}
	return hedged.errors()
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
