package mxtest

import (
	"net"

	"github.com/miekg/dns"
)

// Except for Forge, these responders send a forged NXDOMAIN and then the true
// reply. A resolver must not accept the forged one.

// WrongID forges a reply with another id.
func WrongID(w dns.ResponseWriter, reply *dns.Msg) {
	Forge(w, reply)
	Answer(w, reply)
}

// Forge sends only a forged reply with another id.
func Forge(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Id ^= 0x5555
	_ = w.WriteMsg(forged)
}

// WrongQuestion forges a reply to another question.
func WrongQuestion(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Question[0].Name = "elsewhere.test."
	_ = w.WriteMsg(forged)
	Answer(w, reply)
}

// WrongPort forges a reply from another port.
func WrongPort(w dns.ResponseWriter, reply *dns.Msg) {
	if conn, err := net.Dial("udp", w.RemoteAddr().String()); err == nil {
		wire, _ := denial(reply).Pack()
		_, _ = conn.Write(wire)
		conn.Close()
	}
	Answer(w, reply)
}

// Echo sends the query back, without the QR bit, before the true reply.
func Echo(w dns.ResponseWriter, reply *dns.Msg) {
	forged := denial(reply)
	forged.Response = false
	_ = w.WriteMsg(forged)
	Answer(w, reply)
}

// denial returns an authoritative NXDOMAIN with the id and question of reply.
func denial(reply *dns.Msg) *dns.Msg {
	m := reply.Copy()
	m.Rcode, m.Authoritative, m.Answer, m.Ns = dns.RcodeNameError, true, nil, nil
	return m
}
