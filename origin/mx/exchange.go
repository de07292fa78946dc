package mx

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/miekg/dns"
)

// udpPayload is the size of answers asked for, in bytes: it passes every path
// without fragments (DNS flag day 2020).
const udpPayload = 1232

// exchange asks one server one question: over UDP, without EDNS0 if the
// server does not know it (RFC 6891 section 7), over TCP if the answer was
// truncated (RFC 7766 section 5).
func (r *Resolver) exchange(ctx context.Context, s *server, name string, qtype uint16) (*dns.Msg, *Error) {
	query := newQuery(name, qtype)
	reply, err := r.exchangeUDP(ctx, s, query)
	if err == nil && rejectsEDNS(reply) {
		query = newQuery(name, qtype)
		query.Extra = nil
		reply, err = r.exchangeUDP(ctx, s, query)
	}
	if err == nil && reply.Truncated {
		reply, err = r.exchangeTCP(ctx, s, query)
	}
	if err != nil {
		return nil, classify(ctx, err).withServer(s)
	}
	return reply, nil
}

// newQuery asks with a random id, for recursion, with an OPT record.
func newQuery(name string, qtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(name, qtype).SetEdns0(udpPayload, false)
}

func rejectsEDNS(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented
}

// classify makes the error of a failed exchange. Of what the system says only
// the bare cause is kept.
func classify(ctx context.Context, err error) *Error {
	if err == errMalformed || err == errNotDNS {
		return &Error{Kind: Failure, Reason: Malformed}
	}
	var timeout net.Error
	if ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return &Error{Kind: Timeout, Reason: NoAnswer}
	}
	e := &Error{Kind: Failure, Reason: Unreachable}
	var cause syscall.Errno
	if errors.As(err, &cause) {
		e.Cause = cause
	}
	return e
}
