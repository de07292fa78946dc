package mx

import (
	"sync/atomic"
	"time"
)

// penalty is how long a server that was late is asked after the others.
const penalty = 30 * time.Second

// server is one recursive resolver.
type server struct {
	address   string                    // host:port
	lateUntil atomic.Pointer[time.Time] // nil: never was
}

func (s *server) markLate() {
	until := time.Now().Add(penalty)
	s.lateUntil.Store(&until)
}

func (s *server) isLate(now time.Time) bool {
	until := s.lateUntil.Load()
	return until != nil && now.Before(*until)
}

// line returns the servers in the order to ask: as configured, those that were
// late behind the others. None is left out.
func (r *Resolver) serverOrder() []serverState {
	now := time.Now()
	lanes := make([]serverState, 0, len(r.servers))
	for _, late := range [...]bool{false, true} {
		for _, s := range r.servers {
			if s.isLate(now) == late {
				lanes = append(lanes, serverState{server: s})
			}
		}
	}
	return lanes
}
