package mx

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const (
	// udpPayload is the largest UDP reply requested, in bytes. It fits every path without
	// fragmentation (DNS flag day 2020).
	udpPayload = 1232

	// maxIgnored is how many datagrams are ignored before the query is repeated over TCP.
	maxIgnored = 16

	flagQR = 1 << 15 // of dns.Header.Bits: a response
	flagTC = 1 << 9  // truncated
)

var (
	errMalformed = errors.New("the reply does not decode")
	errNotDNS    = errors.New("a datagram is not a DNS message")
)

// exchange sends one question to one server and returns its reply, for which it waits until a
// time: over UDP, again without EDNS0 if the server rejects it (RFC 6891 section 7), and over TCP
// if the reply is truncated (RFC 7766 section 5).
func (r *Resolver) exchange(ctx context.Context, s *server, until time.Time, name string, qtype uint16) (*dns.Msg, *Error) {
	query := new(dns.Msg).SetQuestion(name, qtype).SetEdns0(udpPayload, false)
	reply, err := r.exchangeUDP(ctx, s, until, query)
	if err == nil && (reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented) {
		query = new(dns.Msg).SetQuestion(name, qtype)
		reply, err = r.exchangeUDP(ctx, s, until, query)
	}
	if err == nil && reply.Truncated {
		reply, err = r.exchangeTCP(ctx, s, until, query)
	}
	if err == nil {
		return reply, nil
	}
	if err == errMalformed || err == errNotDNS {
		return nil, &Error{Kind: Failure, Reason: Malformed}
	}
	timeout, ok := errors.AsType[net.Error](err)
	if ctx.Err() != nil || ok && timeout.Timeout() {
		return nil, &Error{Kind: Timeout, Reason: NoReply}
	}
	failure := &Error{Kind: Failure, Reason: Unreachable}
	if cause, ok := errors.AsType[syscall.Errno](err); ok { // all else may have names in it
		failure.Cause = cause
	}
	return nil, failure
}

// exchangeUDP sends a query from a socket of its own, so that a forger has to guess a random
// port and a random id (RFC 5452 section 9.2): the kernel chooses the port and, because the
// socket is connected, drops datagrams from other hosts. Other datagrams that are no reply are
// forged or late, and are ignored. Many of them mean that somebody guesses ids, so the reply
// is then requested over TCP as if truncated.
func (r *Resolver) exchangeUDP(ctx context.Context, s *server, until time.Time, query *dns.Msg) (*dns.Msg, error) {
	socket, err := net.DialUDP("udp", nil, s.udp)
	if err != nil {
		return nil, err
	}
	conn := &dns.Conn{Conn: socket, UDPSize: udpPayload + 1}
	defer conn.Close()
	defer endAt(until, ctx, conn)()
	r.counters.udp.Add(1)
	if err := conn.WriteMsg(query); err != nil {
		return nil, err
	}
	notDNS := false
	for range maxIgnored {
		var header dns.Header
		wire, err := conn.ReadMsgHeader(&header)
		if err != nil && err != dns.ErrShortRead {
			if notDNS {
				return nil, errNotDNS
			}
			return nil, err
		}
		if len(wire) > udpPayload { // longer than was asked for, so this may not be all of it
			header.Bits |= flagTC
		}
		reply, err := parseReply(wire, header, query)
		if reply != nil || err == errMalformed {
			return reply, err
		}
		notDNS = notDNS || err != nil
		r.counters.ignored.Add(1)
	}
	return truncated, nil
}

// exchangeTCP repeats the query over TCP, which neither truncates the reply nor lets another
// host send it.
func (r *Resolver) exchangeTCP(ctx context.Context, s *server, until time.Time, query *dns.Msg) (*dns.Msg, error) {
	r.counters.tcp.Add(1)
	stream, err := (&net.Dialer{Deadline: until}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	conn := &dns.Conn{Conn: stream}
	defer conn.Close()
	defer endAt(until, ctx, conn)()
	if err := conn.WriteMsg(query); err != nil {
		return nil, err
	}
	var header dns.Header
	wire, err := conn.ReadMsgHeader(&header)
	if err != nil {
		return nil, err
	}
	reply, err := parseReply(wire, header, query)
	if err != nil || reply == nil || reply.Truncated {
		return nil, errMalformed
	}
	return reply, nil
}

// endAt makes reads and writes of conn fail at a time, or once ctx ends until the function that
// it returns is called.
func endAt(until time.Time, ctx context.Context, conn net.Conn) (forget func() bool) {
	_ = conn.SetDeadline(until)
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// truncated replaces a truncated reply, whose records must be ignored (RFC 2181 section 9)
// and may not decode.
var truncated = &dns.Msg{MsgHdr: dns.MsgHdr{Truncated: true}}

// parseReply returns the reply to query, or nil if wire is one to another query. It returns
// errMalformed if the reply does not decode, and errNotDNS if wire is not a DNS message.
// Unlike [dns.Msg.Unpack] it refuses a message that ends before the records that its header
// counts, because a cut reply would otherwise read as "no MX".
func parseReply(wire []byte, header dns.Header, query *dns.Msg) (*dns.Msg, error) {
	matches := len(wire) > 0 && header.Id == query.Id && header.Bits&flagQR != 0
	if matches && header.Bits&flagTC != 0 {
		return truncated, nil
	}
	reply := new(dns.Msg)
	err := reply.Unpack(wire)
	complete := len(reply.Question) == int(header.Qdcount) && len(reply.Answer) == int(header.Ancount) &&
		len(reply.Ns) == int(header.Nscount) && len(reply.Extra) == int(header.Arcount)
	switch {
	case err == nil && complete && isReply(reply, query):
		return reply, nil
	case err == nil && complete:
		return nil, nil
	case matches:
		return nil, errMalformed
	}
	return nil, errNotDNS
}

// isReply reports whether reply is one to query: it has the same id and, ignoring case, the
// same question. An error reply may omit the question.
func isReply(reply, query *dns.Msg) bool {
	if reply.Id != query.Id || !reply.Response || reply.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(reply.Question) == 0 {
		return reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	}
	got, asked := reply.Question[0], query.Question[0]
	return len(reply.Question) == 1 && got.Qtype == asked.Qtype && got.Qclass == dns.ClassINET &&
		strings.EqualFold(got.Name, asked.Name)
}
