// Package mxtest serves a zone over real sockets on loopback, and can be made
// to misbehave. Tests start it; nothing that ships imports it.
//
//	addr := mxtest.Start(t, `
//	    example.test.       300 IN SOA ns.example.test. hm.example.test. 1 2 3 4 60
//	    example.test.       300 IN MX  10 mail.example.test.
//	    *.bulk.test.         60 IN MX  10 mail.example.test.
//	`)
//
// The zone is in the master file format of RFC 1035 section 5, but that lines
// may be indented, so that each names its owner. The server answers as a
// recursive resolver that knows this zone and nothing else: it follows CNAMEs,
// expands wildcards and says NXDOMAIN for every other name. A test that needs
// failures keeps the [Server] and lists a [Fault] by name:
//
//	s := mxtest.New(t, zone)
//	s.Fault("slow.test", mxtest.After(time.Second, mxtest.Answer))
//	s.FaultAll(mxtest.Silent)
package mxtest

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// Start serves zone until the test ends and returns the server's host:port.
func Start(t testing.TB, zone string) (addr string) {
	t.Helper()
	return New(t, zone).Addr
}

// New is [Start] for a test that wants to misbehave or to count.
func New(t testing.TB, zone string) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", zone)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Server is a DNS server on UDP and TCP at one port. Its methods may be
// called while it serves.
type Server struct {
	Addr string // host:port

	zone     zone
	udp, tcp *dns.Server
	seen     counts

	mu         sync.Mutex
	responders map[string]Responder // by lower-case name with its final dot
	fallback   Responder
}

// Listen serves zone at addr, for a program rather than a test. Port 0 takes
// a free port.
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

// listen takes the same port on both transports; a free UDP port may be taken
// on TCP, so it tries a few.
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

// serve returns once the server takes queries.
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
