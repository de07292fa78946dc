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
// be indented, so each must name its owner. The server answers like a recursive
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
