package mxtest

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// A Fault handles a query in the server's place. The reply it is given is
// the true one; it may spoil and send it, or send anything else, or nothing.
type Responder func(w dns.ResponseWriter, reply *dns.Msg)

// Answer is no fault: it sends the true reply, truncated where it must be.
func Answer(w dns.ResponseWriter, reply *dns.Msg) {
	if isUDP(w) {
		reply.Truncate(udpSize(reply))
	}
	_ = w.WriteMsg(reply)
}

// Silent never replies.
func Silent(dns.ResponseWriter, *dns.Msg) {}

// ServFail answers SERVFAIL.
func ServFail(w dns.ResponseWriter, reply *dns.Msg) { Rcode(dns.RcodeServerFailure)(w, reply) }

// Refused answers REFUSED.
func Refused(w dns.ResponseWriter, reply *dns.Msg) { Rcode(dns.RcodeRefused)(w, reply) }

// Rcode answers with a response code and no record.
func Rcode(rcode int) Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		reply.Rcode, reply.Answer, reply.Ns = rcode, nil, nil
		_ = w.WriteMsg(reply)
	}
}

// Garbage answers with the right id and question, and records that do not
// decode.
func Garbage(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Answer, reply.Ns, reply.Extra = nil, nil, nil
	wire, _ := reply.Pack()
	wire[7] = 200 // ANCOUNT
	_, _ = w.Write(append(wire, "\xff\xff no record at all"...))
}

// Noise answers with bytes that are no DNS message.
func Noise(w dns.ResponseWriter, _ *dns.Msg) {
	_, _ = w.Write([]byte("\xde\xad\xbe\xef not a message, whatever the port says \xff\xff\xff"))
}

// HeaderOnly answers with a header that announces records and ends there.
func HeaderOnly(w dns.ResponseWriter, reply *dns.Msg) {
	wire, _ := reply.Pack()
	_, _ = w.Write(wire[:12])
}

// NoEDNS answers FORMERR to a query with an OPT record and truly to others,
// as servers older than RFC 6891 do.
func NoEDNS(w dns.ResponseWriter, reply *dns.Msg) {
	if reply.IsEdns0() != nil {
		reply.Extra = nil
		Rcode(dns.RcodeFormatError)(w, reply)
		return
	}
	Answer(w, reply)
}

// Truncated sends over UDP an empty answer with the TC bit, and the true one
// over TCP.
func Truncated(w dns.ResponseWriter, reply *dns.Msg) {
	if isUDP(w) {
		reply.Truncated, reply.Answer, reply.Ns = true, nil, nil
	}
	_ = w.WriteMsg(reply)
}

// After does then after a wait.
func After(wait time.Duration, then Responder) Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		time.Sleep(wait)
		then(w, reply)
	}
}

// First does fault for the first n queries and then answers truly: lost
// packets are First(n, Silent).
func First(n int64, fault Responder) Responder {
	var served atomic.Int64
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		if served.Add(1) <= n {
			fault(w, reply)
			return
		}
		Answer(w, reply)
	}
}

func isUDP(w dns.ResponseWriter) bool {
	_, ok := w.RemoteAddr().(*net.UDPAddr)
	return ok
}

// udpSize is what the asker can take (RFC 6891 section 6.2.3).
func udpSize(reply *dns.Msg) int {
	if opt := reply.IsEdns0(); opt != nil {
		return int(max(opt.UDPSize(), dns.MinMsgSize))
	}
	return dns.MinMsgSize
}
