package mxtest

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

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
