package mx

import (
	"sync/atomic"
	"time"
)

// penalty is how long a server that was late stands behind the others.
const penalty = 30 * time.Second

// server is one recursive resolver.
type server struct {
	address   string       // host:port
	lateUntil atomic.Int64 // on the cache's clock
}

func (s *server) late(now int64) { s.lateUntil.Store(now + int64(penalty)) }

// line returns the servers in the order to ask: as configured, those that were
// late behind the others. Nobody is left out.
func (r *Resolver) line() []lane {
	now := r.cache.now()
	lanes := make([]lane, 0, len(r.servers))
	for _, late := range [...]bool{false, true} {
		for _, s := range r.servers {
			if now < s.lateUntil.Load() == late {
				lanes = append(lanes, lane{server: s})
			}
		}
	}
	return lanes
}
