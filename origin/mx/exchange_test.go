package mx

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

var (
	// quick repeats a query soon, and still works on a busy machine.
	quick = Config{Timeout: 2 * time.Minute, interval: 50 * time.Millisecond}
	// shortTimeout is short enough for a test to wait for.
	shortTimeout = Config{Timeout: 400 * time.Millisecond, interval: 50 * time.Millisecond}
)

func TestExchangeRecovers(t *testing.T) {
	for why, test := range map[string]struct {
		responder mxtest.Responder
		ignored   uint64 // datagrams
		c         Config
	}{
		"truncated: repeats over TCP":            {mxtest.Truncated, 0, patient},
		"no EDNS0: repeats without":              {noEDNS, 0, patient},
		"not implemented: repeats without EDNS0": {notImplemented, 0, patient},
		"two packets lost: repeats":              {first(2, mxtest.Silent), 0, quick},
		"slow: waits":                            {mxtest.After(150*time.Millisecond, mxtest.Answer), 0, quick},
		"forged, wrong id: waits":                {wrongID, 1, patient},
		"forged, wrong question: waits":          {wrongQuestion, 1, patient},
		"forged, wrong type: waits":              {before(wrongType), 1, patient},
		"forged, wrong port: waits":              {wrongPort, 0, patient},
		"forged, the query itself: waits":        {echo, 1, patient},
		"not DNS before the reply: waits":        {before(mxtest.Noise), 1, patient},
		"an empty datagram: waits":               {before(empty), 1, patient},
		"a cut reply with TC: repeats over TCP":  {cutOff, 0, patient},
	} {
		t.Run(why, func(t *testing.T) {
			server := mxtest.New(t, zone)
			server.RespondAll(test.responder)
			r := open(t, test.c, server.Addr)
			requireMX(t, r, true, "example.test")
			require.Equal(t, test.ignored, r.Stats().Ignored)
		})
	}
}

// notImplemented is noEDNS with another RCODE.
func notImplemented(w dns.ResponseWriter, reply *dns.Msg) {
	if reply.IsEdns0() == nil {
		mxtest.Answer(w, reply)
		return
	}
	reply.Extra = nil
	mxtest.Rcode(dns.RcodeNotImplemented)(w, reply)
}

func wrongType(w dns.ResponseWriter, reply *dns.Msg) {
	forged := reply.Copy()
	forged.Rcode, forged.Answer, forged.Question[0].Qtype = dns.RcodeNameError, nil, dns.TypeA
	_ = w.WriteMsg(forged)
}

func empty(w dns.ResponseWriter, _ *dns.Msg) { _, _ = w.Write(nil) }

// before returns a Responder that calls first and sends the true reply.
func before(first mxtest.Responder) mxtest.Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		first(w, reply)
		mxtest.Answer(w, reply)
	}
}

// cutOff sends a cut message with the TC bit over UDP, as some old servers do.
func cutOff(w dns.ResponseWriter, reply *dns.Msg) {
	if w.RemoteAddr().Network() == "tcp" {
		mxtest.Answer(w, reply)
		return
	}
	reply.Truncated = true
	wire, _ := reply.Pack()
	_, _ = w.Write(wire[:len(wire)-12])
}

func TestExchangeErrors(t *testing.T) {
	for why, test := range map[string]struct {
		responder mxtest.Responder
		kind      Kind
		reason    Reason
		waits     bool // for the whole timeout
	}{
		"silence":                             {mxtest.Silent, Timeout, NoReply, true},
		"SERVFAIL":                            {mxtest.ServFail, Failure, Rcode, false},
		"REFUSED":                             {mxtest.Refused, Failure, Rcode, false},
		"FORMERR even without EDNS0":          {mxtest.Rcode(dns.RcodeFormatError), Failure, Rcode, false},
		"records that do not decode":          {mxtest.Garbage, Failure, Malformed, false},
		"only a header":                       {headerOnly, Failure, Malformed, false},
		"not DNS":                             {mxtest.Noise, Failure, Malformed, true},
		"a referral":                          {referral, Failure, Lame, false},
		"neither recursive nor authoritative": {lame, Failure, Lame, false},
		"truncated on TCP too":                {alwaysTruncated, Failure, Malformed, false},
		"truncated, and TCP is silent":        {overTCP(mxtest.Silent), Timeout, NoReply, true},
		"truncated, and TCP is closed":        {overTCP(closed), Failure, Unreachable, false},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			server := mxtest.New(t, zone)
			server.RespondAll(test.responder)
			c := quick
			if test.waits {
				c = shortTimeout
			}
			r := open(t, c, server.Addr)
			for _, domain := range []string{"example.test", "null.example.test", "text.example.test"} {
				_, err := r.Lookup(t.Context(), testAccount, domain)
				requireError(t, err, test.kind, test.reason)
				require.Contains(t, err.Error(), server.Addr)
			}
		})
	}
}

func referral(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Authoritative, reply.Rcode, reply.Answer = false, dns.RcodeSuccess, nil
	reply.Ns = []dns.RR{record("test. 300 IN NS ns.elsewhere.test.")}
	_ = w.WriteMsg(reply)
}

func lame(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Authoritative, reply.RecursionAvailable = false, false
	reply.Rcode, reply.Answer, reply.Ns = dns.RcodeSuccess, nil, nil
	_ = w.WriteMsg(reply)
}

func alwaysTruncated(w dns.ResponseWriter, reply *dns.Msg) {
	reply.Truncated = true
	_ = w.WriteMsg(reply)
}

// overTCP returns a Responder that is then over TCP.
func overTCP(then mxtest.Responder) mxtest.Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		if w.RemoteAddr().Network() == "udp" {
			mxtest.Truncated(w, reply)
			return
		}
		then(w, reply)
	}
}

func closed(w dns.ResponseWriter, _ *dns.Msg) { _ = w.Close() }

func record(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err)
	}
	return rr
}

// Ten CNAMEs are followed, in one reply and in several: a server that is only authoritative
// stops at a CNAME out of its zones.
func TestCNAMEs(t *testing.T) {
	chain := "c0.test. 300 IN MX 10 a.test.\nround.test. 300 IN CNAME about.test.\nabout.test. 300 IN CNAME round.test.\n"
	for n := range maxHops + 1 {
		chain += fmt.Sprintf("c%d.test. %d IN CNAME c%d.test.\n", n+1, 40+n*n, n)
	}
	for why, responder := range map[string]mxtest.Responder{"recursive": mxtest.Answer, "authoritative": firstHopOnly} {
		server := mxtest.New(t, chain)
		server.RespondAll(responder)
		r, clock := openAt(t, Config{}, server.Addr)
		requireMX(t, r, true, fmt.Sprintf("c%d.test", maxHops))
		e, _ := r.cache.get(subject{name: fmt.Sprintf("c%d.test", maxHops)})
		require.Equal(t, int64(40*time.Second), e.freshUntil-clock.NowNano(), "the least along the CNAMEs")
		require.Equal(t, why == "authoritative", server.Asked("c0.test") == 1)
		requireFailure(t, r, Failure, Loop, fmt.Sprintf("c%d.test", maxHops+1))
		requireFailure(t, r, Failure, Loop, "round.test")
		require.LessOrEqual(t, server.Asked("round.test")+server.Asked("about.test"), maxHops+1)
	}
}

func firstHopOnly(w dns.ResponseWriter, reply *dns.Msg) {
	if len(reply.Answer) > 0 && reply.Answer[0].Header().Rrtype == dns.TypeCNAME {
		reply.Answer, reply.Ns, reply.RecursionAvailable = reply.Answer[:1], nil, false
	}
	mxtest.Answer(w, reply)
}

// A reply that is truncated, or longer than was asked for, is requested again over TCP: there it
// may have as many records as fit into a message.
func TestLargeReplyOverTCP(t *testing.T) {
	for records, responder := range map[int]mxtest.Responder{
		3200: mxtest.Answer,
		60:   func(w dns.ResponseWriter, reply *dns.Msg) { _ = w.WriteMsg(reply) },
	} {
		var big strings.Builder
		for i := range records {
			fmt.Fprintf(&big, "big.test. 300 IN MX %d %03x.big.test.\n", i, i)
		}
		server := mxtest.New(t, big.String())
		server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
			reply.Compress = records > 1000
			responder(w, reply)
		})
		r := open(t, Config{}, server.Addr)
		requireMX(t, r, true, "big.test")
		udp, tcp := server.Queries()
		require.Equal(t, []int{1, 1}, []int{udp, tcp})
		require.Equal(t, []uint64{1, 1}, []uint64{r.Stats().UDP, r.Stats().TCP})
	}
}

// An attacker who guesses ids must not get all 65,536 attempts.
func TestForgedFloodMovesToTCP(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if w.RemoteAddr().Network() == "tcp" {
			mxtest.Answer(w, reply)
			return
		}
		for range 1000 {
			forge(w, reply)
		}
	})
	r := open(t, Config{}, server.Addr)
	requireMX(t, r, true, "example.test")
	s := r.Stats()
	require.Equal(t, []uint64{1, 1, maxIgnored}, []uint64{s.UDP, s.TCP, s.Ignored})
}

// A forger has to guess port and id: each query has a socket of its own, at a port of the
// kernel's choice, and a random id.
func TestPortsAndIDsAreUnpredictable(t *testing.T) {
	const callers, each = 16, 128
	server := mxtest.New(t, zone)
	var mu sync.Mutex
	ports, ids := map[string]bool{}, map[uint16]bool{}
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		mu.Lock()
		ports[w.RemoteAddr().String()], ids[reply.Id] = true, true
		mu.Unlock()
		mxtest.Answer(w, reply)
	})
	r := open(t, Config{}, server.Addr)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for n := range each {
				_, err := r.Lookup(t.Context(), testAccount, fmt.Sprintf("n%d-%d.example.test", c, n))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, len(ports), callers*each/4, "the kernel may choose a port again")
	// So many of 65,536 ids are expected to occur; 200 fewer would be 20 standard deviations.
	expected := 65536 * (1 - math.Pow(1-1.0/65536, callers*each))
	require.Greater(t, float64(len(ids)), expected-200)
}

func TestOverIPv6(t *testing.T) {
	server, err := mxtest.Listen("[::1]:0", zone)
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	t.Cleanup(server.Close)
	requireMX(t, open(t, Config{}, server.Addr), true, "example.test")
}
