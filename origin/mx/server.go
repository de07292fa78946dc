package mx

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// penalty is how long a late server is asked after the others.
const penalty = 30 * time.Second

// server is one recursive resolver.
type server struct {
	address   string                    // host:port, the host an IP address
	udp       *net.UDPAddr              // the same
	lateUntil atomic.Pointer[time.Time] // nil if it never was late
}

// newServer returns the server at an address, which parseServer returned.
func newServer(address string) (*server, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return &server{address: address, udp: net.UDPAddrFromAddrPort(at)}, nil
}

// markLate makes s late for the time of penalty.
func (s *server) markLate() {
	until := time.Now().Add(penalty)
	s.lateUntil.Store(&until)
}

func (s *server) isLate(now time.Time) bool {
	until := s.lateUntil.Load()
	return until != nil && now.Before(*until)
}

// firstServer returns the first of serverOrder.
func (r *Resolver) firstServer() *server {
	now := time.Now()
	for _, s := range r.servers {
		if !s.isLate(now) {
			return s
		}
	}
	return r.servers[0]
}

// serverOrder returns all servers in the order to ask: as configured, but late
// ones last.
func (r *Resolver) serverOrder() []serverState {
	now := time.Now()
	order := make([]serverState, 0, len(r.servers))
	for _, late := range [...]bool{false, true} {
		for _, s := range r.servers {
			if s.isLate(now) == late {
				order = append(order, serverState{server: s})
			}
		}
	}
	return order
}
