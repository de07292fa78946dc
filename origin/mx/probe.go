package mx

import (
	"context"
	"errors"
	"time"

	"github.com/miekg/dns"
)

const probeTimeout = 2 * time.Second

// Probe asks every resolver for the name servers of the root, once. It returns
// nil if one of them answers at all, whatever it says, and otherwise what is
// wrong with each.
func (r *Resolver) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	results := make(chan *Error, len(r.servers))
	for _, s := range r.servers {
		go func() {
			_, err := r.exchange(ctx, s, ".", dns.TypeNS)
			results <- err
		}()
	}
	var all []error
	for range r.servers {
		err := <-results
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
