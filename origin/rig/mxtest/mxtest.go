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
	"sync/atomic"
	"testing"
	"time"

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

	mu               sync.Mutex
	responders       map[string]Responder // by lower-case name with its final dot
	fallback         Responder
	asked            map[string]int // queries by name
	overUDP, overTCP int            // queries
}

// Listen serves zone at addr, for programs that are not tests. Port 0 selects a
// free port. Such a port may be in use for TCP, so it tries several.
func Listen(addr, zoneText string) (*Server, error) {
	z, err := parseZone(zoneText)
	if err != nil {
		return nil, fmt.Errorf("mxtest: %w", err)
	}
	s := &Server{zone: z, responders: map[string]Responder{}, fallback: Answer, asked: map[string]int{}}
	for range 10 {
		packets, err := net.ListenPacket("udp", addr)
		if err != nil {
			return nil, fmt.Errorf("mxtest: %w", err)
		}
		s.Addr = packets.LocalAddr().String()
		streams, err := net.Listen("tcp", s.Addr)
		if err != nil {
			packets.Close()
			continue
		}
		s.udp, s.tcp = &dns.Server{PacketConn: packets, Handler: s}, &dns.Server{Listener: streams, Handler: s}
		for _, server := range []*dns.Server{s.udp, s.tcp} {
			up := make(chan struct{})
			server.NotifyStartedFunc = func() { close(up) }
			go server.ActivateAndServe()
			<-up
		}
		return s, nil
	}
	return nil, fmt.Errorf("mxtest: no port of %s is free for both UDP and TCP", addr)
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
func (s *Server) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[dns.CanonicalName(name)]
}

// Names returns the number of different names that were queried.
func (s *Server) Names() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// Queries returns the number of queries over each transport.
func (s *Server) Queries() (udp, tcp int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overUDP, s.overTCP
}

// ServeDNS implements [dns.Handler].
func (s *Server) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	name := dns.CanonicalName(query.Question[0].Name)
	s.mu.Lock()
	s.asked[name]++
	if isUDP(w) {
		s.overUDP++
	} else {
		s.overTCP++
	}
	respond := s.responders[name]
	if respond == nil {
		respond = s.fallback
	}
	s.mu.Unlock()
	reply := new(dns.Msg).SetReply(query)
	reply.RecursionAvailable, reply.Authoritative = true, true
	s.zone.fill(reply)
	if opt := query.IsEdns0(); opt != nil {
		reply.SetEdns0(opt.UDPSize(), false)
	}
	respond(w, reply)
}

// zone maps lower-case owners to their records. An empty non-terminal, a name
// that only has names below it, has no records.
type zone map[string][]dns.RR

func parseZone(text string) (zone, error) {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimLeft(line, " \t"))
	}
	z, parser := zone{}, dns.NewZoneParser(strings.NewReader(lines.String()), ".", "")
	parser.SetDefaultTTL(300)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		owner := dns.CanonicalName(rr.Header().Name)
		z[owner] = append(z[owner], rr)
		for name := parent(owner); name != ""; name = parent(name) {
			z[name] = append(z[name], []dns.RR{}...) // so that it exists
		}
	}
	return z, parser.Err()
}

// parent returns the name above name, and "" for the root.
func parent(name string) string {
	_, above, _ := strings.Cut(name, ".")
	if above == "" && name != "." {
		return "."
	}
	return above
}

// fill sets the response code and the records of m, which has the question.
func (z zone) fill(m *dns.Msg) {
	const longest = 16 // chain of CNAMEs
	name, qtype := dns.CanonicalName(m.Question[0].Name), m.Question[0].Qtype
	found := false
	for range longest {
		records, exists := z.at(name)
		if !exists {
			m.Rcode = dns.RcodeNameError
			break
		}
		wanted, aliases := ofType(records, qtype), ofType(records, dns.TypeCNAME)
		if len(aliases) == 0 || qtype == dns.TypeCNAME {
			m.Answer, found = append(m.Answer, wanted...), len(wanted) > 0
			break
		}
		m.Answer = append(m.Answer, aliases[0])
		name = dns.CanonicalName(aliases[0].(*dns.CNAME).Target)
	}
	for ; !found && len(m.Ns) == 0 && name != ""; name = parent(name) {
		m.Ns = ofType(z[name], dns.TypeSOA)
	}
}

// at returns the records of name, or those of the wildcard that covers it (RFC
// 4592).
func (z zone) at(name string) (records []dns.RR, exists bool) {
	records, exists = z[name]
	for above := parent(name); !exists && above != ""; above = parent(above) {
		wildcard, covers := z["*."+above]
		for _, rr := range wildcard {
			rr = dns.Copy(rr)
			rr.Header().Name = name
			records = append(records, rr)
		}
		if _, known := z[above]; covers || known {
			return records, covers
		}
	}
	return records, exists
}

func ofType(records []dns.RR, qtype uint16) (list []dns.RR) {
	for _, rr := range records {
		if rr.Header().Rrtype == qtype {
			list = append(list, rr)
		}
	}
	return list
}

// A Responder replies to a query. It is passed the true reply, which it may send,
// change, replace or drop.
type Responder func(w dns.ResponseWriter, reply *dns.Msg)

// Answer sends the true reply, truncated if it is larger than the client accepts over UDP (RFC 6891
// section 6.2.3).
func Answer(w dns.ResponseWriter, reply *dns.Msg) {
	if isUDP(w) {
		size := dns.MinMsgSize
		if opt := reply.IsEdns0(); opt != nil {
			size = max(size, int(opt.UDPSize()))
		}
		reply.Truncate(size)
	}
	_ = w.WriteMsg(reply)
}

// Silent sends no reply.
func Silent(dns.ResponseWriter, *dns.Msg) {}

// ServFail sends SERVFAIL.
func ServFail(w dns.ResponseWriter, reply *dns.Msg) { Rcode(dns.RcodeServerFailure)(w, reply) }

// Refused sends REFUSED.
func Refused(w dns.ResponseWriter, reply *dns.Msg) { Rcode(dns.RcodeRefused)(w, reply) }

// Rcode returns a Responder that sends a response code without records.
func Rcode(rcode int) Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		reply.Rcode, reply.Answer, reply.Ns = rcode, nil, nil
		_ = w.WriteMsg(reply)
	}
}

// Garbage sends the right id and question with records that do not decode.
func Garbage(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Answer, reply.Ns, reply.Extra = nil, nil, nil
	wire, _ := reply.Pack()
	wire[7] = 200 // ANCOUNT
	_, _ = w.Write(append(wire, "\xff\xff not a record"...))
}

// Noise sends bytes that are not a DNS message.
func Noise(w dns.ResponseWriter, _ *dns.Msg) {
	_, _ = w.Write([]byte("\xde\xad\xbe\xef this is not a DNS message at all \xff\xff\xff"))
}

// Truncated sends an empty reply with the TC bit over UDP, and the true one over
// TCP.
func Truncated(w dns.ResponseWriter, reply *dns.Msg) {
	if isUDP(w) {
		reply.Truncated, reply.Answer, reply.Ns = true, nil, nil
	}
	_ = w.WriteMsg(reply)
}

// After returns a Responder that calls then after wait.
func After(wait time.Duration, then Responder) Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		time.Sleep(wait)
		then(w, reply)
	}
}

// Together returns a Responder that replies once limit queries have waited at a time,
// and the most queries that have.
func Together(t testing.TB, limit int64) (Responder, *atomic.Int64) {
	var now, most atomic.Int64
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		for n, m := now.Add(1), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for most.Load() < limit && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		now.Add(-1)
		Answer(w, reply)
	}, &most
}

func isUDP(w dns.ResponseWriter) bool {
	_, ok := w.RemoteAddr().(*net.UDPAddr)
	return ok
}
