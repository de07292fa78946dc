package mxtest

import (
	"sync"

	"github.com/miekg/dns"
)

// Fault lists a fault for one name; [Answer] takes it off again.
func (s *Server) Respond(name string, f Responder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responders[dns.CanonicalName(name)] = f
}

// FaultAll lists a fault for every name that has none of its own; [Answer]
// takes it off again.
func (s *Server) RespondAll(f Responder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = f
}

// Asked counts the queries for name, over UDP and TCP.
func (s *Server) Asked(name string) int { return s.seen.of(dns.CanonicalName(name)) }

// Names counts the different names that queries have asked for.
func (s *Server) Names() int { return s.seen.names() }

// Queries counts the queries over each transport.
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

// counts is the queries seen.
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
