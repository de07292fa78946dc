package mx

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	udpPayload = 1232 // octets: fits any path without fragments (DNS flag day 2020)
	udpBuffer  = 4096 // octets: for servers that send more than they were told

	headerSize = 12
	flagQR     = 0x80 // in the header's third octet: a response
	flagTC     = 0x02 // there too: truncated
)

var (
	errMalformed = errors.New("the reply does not decode")
	errGarbage   = errors.New("something came that is no DNS message")
)

// exchange asks one server one question: over UDP, without EDNS0 if the
// server does not know it (RFC 6891 section 7), over TCP if the answer was
// truncated (RFC 7766 section 5).
func (r *Resolver) exchange(ctx context.Context, s *server, name string, qtype uint16) (*dns.Msg, *Error) {
	query := newQuery(name, qtype)
	reply, err := r.overUDP(ctx, s, query)
	if err == nil && rejectsEDNS(reply) {
		query = newQuery(name, qtype)
		query.Extra = nil
		reply, err = r.overUDP(ctx, s, query)
	}
	if err == nil && reply.Truncated {
		reply, err = r.overTCP(ctx, s, query)
	}
	if err != nil {
		return nil, classify(ctx, s, err)
	}
	return reply, nil
}

func newQuery(name string, qtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(name, qtype).SetEdns0(udpPayload, false)
}

func rejectsEDNS(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented
}

// overUDP sends query from a port of its own (random, and connected, so that
// the kernel drops what others send) and waits for the answer to it. What
// answers something else is forged or late: it is passed over.
func (r *Resolver) overUDP(ctx context.Context, s *server, query *dns.Msg) (*dns.Msg, error) {
	r.counters.udp.Add(1)
	conn, err := r.send(ctx, "udp", s, query)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	buffer := make([]byte, udpBuffer)
	garbage := false
	for {
		n, err := conn.Read(buffer)
		if err != nil && garbage {
			return nil, errGarbage
		}
		if err != nil {
			return nil, err
		}
		reply, err := read(buffer[:n], query)
		if reply != nil || err == errMalformed {
			return reply, err
		}
		garbage = garbage || err != nil
		r.counters.ignored.Add(1)
	}
}

// read returns the reply to query that wire is, or nil where wire is something
// else, with errGarbage where it is nothing. Of a truncated reply only that is
// read: its last record may be cut. A reply that does not decode is errMalformed.
func read(wire []byte, query *dns.Msg) (*dns.Msg, error) {
	mine := len(wire) >= headerSize && binary.BigEndian.Uint16(wire) == query.Id && wire[2]&flagQR != 0
	if mine && wire[2]&flagTC != 0 {
		return &dns.Msg{MsgHdr: dns.MsgHdr{Truncated: true}}, nil
	}
	reply, err := unpack(wire)
	switch {
	case err == nil && answers(reply, query):
		return reply, nil
	case err == nil:
		return nil, nil
	case mine:
		return nil, errMalformed
	}
	return nil, errGarbage
}

// overTCP asks again on a stream, where nothing is truncated and nobody else
// can speak.
func (r *Resolver) overTCP(ctx context.Context, s *server, query *dns.Msg) (*dns.Msg, error) {
	r.counters.tcp.Add(1)
	conn, err := r.send(ctx, "tcp", s, query)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	wire, err := readFrame(conn)
	if err != nil {
		return nil, err
	}
	reply, err := unpack(wire)
	if err != nil || reply.Truncated || !answers(reply, query) {
		return nil, errMalformed
	}
	return reply, nil
}

// send opens a connection that dies with ctx and writes query to it.
func (r *Resolver) send(ctx context.Context, network string, s *server, query *dns.Msg) (net.Conn, error) {
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, s.address)
	if err != nil {
		return nil, err
	}
	mortal := &mortal{Conn: conn, stop: context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })}
	if network == "tcp" {
		wire = append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...)
	}
	if _, err = mortal.Write(wire); err != nil {
		mortal.Close()
		return nil, err
	}
	return mortal, nil
}

var past = time.Unix(1, 0)

// mortal is a connection whose reads and writes fail once a context ended.
type mortal struct {
	net.Conn
	stop func() bool
}

func (m *mortal) Close() error {
	m.stop()
	return m.Conn.Close()
}

// readFrame reads one message of RFC 1035 section 4.2.2.
func readFrame(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	wire := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, wire)
	return wire, err
}

// unpack decodes wire. The library takes a message that ends before its
// counted records for one without them, which would make "no MX" of a cut
// answer; here it is garbage.
func unpack(wire []byte) (*dns.Msg, error) {
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		return nil, err
	}
	for i, n := range [...]int{len(m.Question), len(m.Answer), len(m.Ns), len(m.Extra)} {
		if int(binary.BigEndian.Uint16(wire[4+2*i:])) != n {
			return nil, errMalformed
		}
	}
	return m, nil
}

// answers tells whether reply is one to query: its id, and its question but
// for the case of letters. An error may come without the question.
func answers(reply, query *dns.Msg) bool {
	if reply.Id != query.Id || !reply.Response || reply.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(reply.Question) == 0 {
		return reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	}
	got, want := reply.Question[0], query.Question[0]
	return len(reply.Question) == 1 && got.Qtype == want.Qtype && got.Qclass == want.Qclass &&
		strings.EqualFold(got.Name, want.Name)
}

// classify makes the error of a failed exchange.
func classify(ctx context.Context, s *server, err error) *Error {
	switch {
	case err == errMalformed || err == errGarbage:
		return &Error{Kind: Failure, Reason: Malformed, Server: s.address}
	case ctx.Err() != nil || isTimeout(err):
		return &Error{Kind: Timeout, Reason: NoAnswer, Server: s.address}
	}
	return &Error{Kind: Failure, Reason: Unreachable, Server: s.address}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
