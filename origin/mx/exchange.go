package mx

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/miekg/dns"
)

// udpPayload is the largest UDP reply requested, in bytes. It fits every path
// without fragmentation (DNS flag day 2020).
const udpPayload = 1232

// exchange sends one question to one server and returns its reply: over UDP,
// again without EDNS0 if the server rejects it (RFC 6891 section 7), and over
// TCP if the reply is truncated (RFC 7766 section 5). If sent is not nil, it is the
// first query, and closed here.
func (r *Resolver) exchange(ctx context.Context, s *server, name string, qtype uint16, sent *udpQuery) (*dns.Msg, *Error) {
	if sent == nil {
		sent = r.sendUDP(s, newQuestion(name, qtype))
	}
	q := sent.question
	reply, err := r.exchangeUDP(ctx, sent)
	if err == nil && rejectsEDNS(reply) {
		q = newQuestion(name, qtype)
		q.edns = false
		reply, err = r.exchangeUDP(ctx, r.sendUDP(s, q))
	}
	if err == nil && reply.Truncated {
		reply, err = r.exchangeTCP(ctx, s, &q)
	}
	if err != nil {
		return nil, classify(ctx, err).withServer(s)
	}
	return reply, nil
}

// exchangeUDP waits for the reply to a query that was sent, and closes it.
func (r *Resolver) exchangeUDP(ctx context.Context, u *udpQuery) (*dns.Msg, error) {
	defer u.close()
	return r.replyTo(ctx, u)
}

func rejectsEDNS(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented
}

// classify returns the error of a failed exchange. Of the system's error it
// keeps only the errno.
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
