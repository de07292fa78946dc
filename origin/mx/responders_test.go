package mx

import (
	"net"
	"sync/atomic"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// headerOnly sends a header that counts records, and no records.
func headerOnly(w dns.ResponseWriter, reply *dns.Msg) {
	wire, _ := reply.Pack()
	_, _ = w.Write(wire[:12])
}

// noEDNS sends FORMERR to a query with an OPT record and the true reply to
// others, as servers older than RFC 6891 do.
func noEDNS(w dns.ResponseWriter, reply *dns.Msg) {
	if reply.IsEdns0() != nil {
		reply.Extra = nil
		mxtest.Rcode(dns.RcodeFormatError)(w, reply)
		return
	}
	mxtest.Answer(w, reply)
}

// first returns a Responder that calls respond for the first n queries and Answer
// for all others. first(n, mxtest.Silent) is n lost packets.
func first(n int64, respond mxtest.Responder) mxtest.Responder {
	var served atomic.Int64
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		if served.Add(1) <= n {
			respond(w, reply)
			return
		}
		mxtest.Answer(w, reply)
	}
}

// Except for forge, these responders send a forged NXDOMAIN and then the true
// reply. A resolver must not accept the forged one.

// wrongID forges a reply with another id.
func wrongID(w dns.ResponseWriter, reply *dns.Msg) {
	forge(w, reply)
	mxtest.Answer(w, reply)
}

// forge sends only a forged reply with another id.
func forge(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Id ^= 0x5555
	_ = w.WriteMsg(forged)
}

// wrongQuestion forges a reply to another question.
func wrongQuestion(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Question[0].Name = "elsewhere.test."
	_ = w.WriteMsg(forged)
	mxtest.Answer(w, reply)
}

// wrongPort forges a reply from another port.
func wrongPort(w dns.ResponseWriter, reply *dns.Msg) {
	if conn, err := net.Dial("udp", w.RemoteAddr().String()); err == nil {
		wire, _ := denial(reply).Pack()
		_, _ = conn.Write(wire)
		conn.Close()
	}
	mxtest.Answer(w, reply)
}

// echo sends the query back, without the QR bit, before the true reply.
func echo(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Response = false
	_ = w.WriteMsg(forged)
	mxtest.Answer(w, reply)
}

// denial returns an authoritative NXDOMAIN with the id and question of reply.
func denial(reply *dns.Msg) *dns.Msg {
	m := reply.Copy()
	m.Rcode, m.Authoritative, m.Answer, m.Ns = dns.RcodeNameError, true, nil, nil
	return m
}
