package mx

import (
	"context"
	"errors"
	"time"

	"github.com/miekg/dns"
)

const probeTimeout = 2 * time.Second

// Probe asks the resolvers for the name servers of the root. It returns nil if
// one of them answers at all, whatever it says, and otherwise what is wrong
// with each.
func (r *Resolver) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	race := r.newHedgedQuery(func(ctx context.Context, s *server) (answer, *Error) {
		_, err := r.exchange(ctx, s, ".", dns.TypeNS)
		return answer{}, err
	})
	if _, err := race.run(ctx); err == nil {
		return nil
	}
	return race.errors()
}

// errors is what is wrong with each server, those that were not asked left out.
func (c *hedgedQuery) errors() error {
	var all []error
	for i := range c.servers {
		if err := c.servers[i].err; err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
