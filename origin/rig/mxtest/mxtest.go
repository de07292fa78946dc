// Package mxtest is a DNS server for tests. It serves a zone over sockets on
// loopback and can be made to misbehave.
//
//	addr := mxtest.Start(t, `
//	    example.test.       300 IN SOA ns.example.test. hm.example.test. 1 2 3 4 60
//	    example.test.       300 IN MX  10 mail.example.test.
//	    *.bulk.test.         60 IN MX  10 mail.example.test.
//	`)
//
// The zone is in master file format (RFC 1035 section 5), except that lines may
// be indented, so each must name its owner. The server replies like a recursive
// resolver that has this zone only: it follows CNAMEs, expands wildcards and
// sends NXDOMAIN for every other name. A test that needs failures keeps the
// [Server] and sets a [Responder] by name:
//
//	s := mxtest.New(t, zone)
//	s.Respond("slow.test", mxtest.After(time.Second, mxtest.Answer))
//	s.RespondAll(mxtest.Silent)
package mxtest

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// Start serves zone until the test ends and returns the server's host:port.
func Start(t testing.TB, zone string) (addr string) {
	t.Helper()
	return New(t, zone).Addr
}

// New is like [Start] and returns the server, to set responders or read counts.
func New(t testing.TB, zone string) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", zone)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Server is a DNS server on UDP and TCP at one port. Its methods are safe for
// concurrent use.
type Server struct {
	Addr string // host:port

	zone     zone
	udp, tcp *dns.Server
	seen     counts

	mu         sync.Mutex
	responders map[string]Responder // by lower-case name with its final dot
	fallback   Responder
}

// Listen serves zone at addr, for programs that are not tests. Port 0 selects a
// free port.
func Listen(addr, zoneText string) (*Server, error) {
	z, err := parseZone(zoneText)
	if err != nil {
		return nil, err
	}
	s := &Server{zone: z, responders: map[string]Responder{}, seen: counts{byName: map[string]int{}}}
	if err := s.listen(addr); err != nil {
		return nil, fmt.Errorf("mxtest: %w", err)
	}
	return s, nil
}

// listen listens on the same port over UDP and TCP. A port that is free for UDP
// may be in use for TCP, so it tries several.
func (s *Server) listen(addr string) (err error) {
	for range 10 {
		if err = s.listenOnce(addr); err == nil {
			return nil
		}
	}
	return err
}

func (s *Server) listenOnce(addr string) error {
	packets, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	s.Addr = packets.LocalAddr().String()
	streams, err := net.Listen("tcp", s.Addr)
	if err != nil {
		packets.Close()
		return err
	}
	s.udp, s.tcp = &dns.Server{PacketConn: packets, Handler: s}, &dns.Server{Listener: streams, Handler: s}
	serve(s.udp)
	serve(s.tcp)
	return nil
}

// serve starts the server and returns once it accepts queries.
func serve(server *dns.Server) {
	up := make(chan struct{})
	server.NotifyStartedFunc = func() { close(up) }
	go server.ActivateAndServe()
	<-up
}

// Close stops the server and frees its port.
func (s *Server) Close() {
	s.udp.PacketConn.Close()
	s.tcp.Listener.Close()
	s.udp.Shutdown()
	s.tcp.Shutdown()
}

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
	s.zone.fill(reply)
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

const maxChain = 16 // CNAMEs followed in one reply

// zone maps lower-case owners to their records. An empty non-terminal, a name
// that only has names below it, has no records.
type zone map[string][]dns.RR

func parseZone(text string) (zone, error) {
	z := zone{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	parser := dns.NewZoneParser(strings.NewReader(strings.Join(lines, "\n")), ".", "")
	parser.SetDefaultTTL(300)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		z.add(rr)
	}
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("mxtest: %w", err)
	}
	return z, nil
}

func (z zone) add(rr dns.RR) {
	owner := dns.CanonicalName(rr.Header().Name)
	z[owner] = append(z[owner], rr)
	for name, ok := parent(owner); ok; name, ok = parent(name) {
		if _, known := z[name]; !known {
			z[name] = nil
		}
	}
}

// fill sets the response code and the records of m, which has the question.
func (z zone) fill(m *dns.Msg) {
	name, qtype := dns.CanonicalName(m.Question[0].Name), m.Question[0].Qtype
	for range maxChain {
		records, exists := z.at(name)
		if !exists {
			m.Rcode = dns.RcodeNameError
			break
		}
		alias := appendType(nil, records, dns.TypeCNAME)
		if len(alias) == 0 || qtype == dns.TypeCNAME {
			m.Answer = appendType(m.Answer, records, qtype)
			break
		}
		m.Answer = append(m.Answer, alias[0])
		name = dns.CanonicalName(alias[0].(*dns.CNAME).Target)
	}
	if !hasType(m.Answer, qtype) {
		m.Ns = z.soa(name)
	}
}

// at returns the records of name, or those of the wildcard that covers it (RFC
// 4592).
func (z zone) at(name string) (records []dns.RR, exists bool) {
	records, exists = z[name]
	if exists {
		return records, true
	}
	for above, ok := parent(name); ok; above, ok = parent(above) {
		if records, ok := z["*."+above]; ok {
			return renamed(records, name), true
		}
		if _, ok := z[above]; ok {
			break
		}
	}
	return nil, false
}

// soa returns the SOA record that covers name, for a negative reply.
func (z zone) soa(name string) []dns.RR {
	for ok := true; ok; name, ok = parent(name) {
		if soa := appendType(nil, z[name], dns.TypeSOA); len(soa) > 0 {
			return soa
		}
	}
	return nil
}

// parent returns the name above name; ok is false for the root.
func parent(name string) (above string, ok bool) {
	if name == "." {
		return "", false
	}
	if _, above, _ := strings.Cut(name, "."); above != "" {
		return above, true
	}
	return ".", true
}

func renamed(records []dns.RR, name string) []dns.RR {
	out := make([]dns.RR, len(records))
	for i, rr := range records {
		out[i] = dns.Copy(rr)
		out[i].Header().Name = name
	}
	return out
}

func appendType(dst, records []dns.RR, qtype uint16) []dns.RR {
	for _, rr := range records {
		if rr.Header().Rrtype == qtype {
			dst = append(dst, rr)
		}
	}
	return dst
}

func hasType(records []dns.RR, qtype uint16) bool {
	return len(appendType(nil, records, qtype)) > 0
}
