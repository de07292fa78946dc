package mxtest

import (
	"sync"

	"github.com/miekg/dns"
)

// Respond sets the Responder of one name. [Answer] restores the true replies.
func (s *Server) Respond(name string, f Responder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responders[dns.CanonicalName(name)] = f
}

// RespondAll sets the Responder of all names without their own. [Answer] restores
// the true replies.
func (s *Server) RespondAll(f Responder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = f
}

// Asked returns the number of queries for name, over UDP and TCP.
func (s *Server) Asked(name string) int { return s.seen.of(dns.CanonicalName(name)) }

// Names returns the number of different names that were queried.
func (s *Server) Names() int { return s.seen.names() }

// Queries returns the number of queries over each transport.
func (s *Server) Queries() (udp, tcp int) { return s.seen.total() }

// ServeDNS implements [dns.Handler].
func (s *Server) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	name := dns.CanonicalName(query.Question[0].Name)
	s.seen.add(name, isUDP(w))
	reply := new(dns.Msg).SetReply(query)
	reply.RecursionAvailable, reply.Authoritative = true, true
	s.zone.answer(reply)
	if opt := query.IsEdns0(); opt != nil {
		reply.SetEdns0(opt.UDPSize(), false)
	}
	s.responderFor(name)(w, reply)
}

func (s *Server) responderFor(name string) Responder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.responders[name]; f != nil {
		return f
	}
	if s.fallback != nil {
		return s.fallback
	}
	return Answer
}

// counts counts the queries received.
type counts struct {
	mu       sync.Mutex
	byName   map[string]int
	udp, tcp int
}

func (c *counts) add(name string, udp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName[name]++
	if udp {
		c.udp++
	} else {
		c.tcp++
	}
}

func (c *counts) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

func (c *counts) names() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byName)
}

func (c *counts) total() (udp, tcp int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.udp, c.tcp
}
