package mx

import (
	"context"
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
	for why, responder := range map[string]mxtest.Responder{
		"truncated: repeats over TCP":            mxtest.Truncated,
		"no EDNS0: repeats without":              mxtest.NoEDNS,
		"not implemented: repeats without EDNS0": mxtest.First(1, mxtest.Rcode(dns.RcodeNotImplemented)),
		"two packets lost: repeats":              mxtest.First(2, mxtest.Silent),
		"slow: waits":                            mxtest.After(150*time.Millisecond, mxtest.Answer),
		"forged, wrong id: waits":                mxtest.WrongID,
		"forged, wrong question: waits":          mxtest.WrongQuestion,
		"forged, wrong port: waits":              mxtest.WrongPort,
		"forged, the query itself: waits":        mxtest.Echo,
		"not DNS before the reply: waits":        noiseFirst,
		"a cut reply with TC: repeats over TCP":  cutOff,
	} {
		t.Run(why, func(t *testing.T) {
			server := mxtest.New(t, zone)
			server.RespondAll(responder)
			r := open(t, quick, server.Addr)
			found, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, found.MX)
		})
	}
}

func noiseFirst(w dns.ResponseWriter, reply *dns.Msg) {
	mxtest.Noise(w, reply)
	mxtest.Answer(w, reply)
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
		"only a header":                       {mxtest.HeaderOnly, Failure, Malformed, false},
		"not DNS":                             {mxtest.Noise, Failure, Malformed, true},
		"a referral":                          {referral, Failure, Lame, false},
		"neither recursive nor authoritative": {lame, Failure, Lame, false},
		"truncated on TCP too":                {alwaysTruncated, Failure, Malformed, false},
		"truncated, and TCP is silent":        {tcpSilent, Timeout, NoReply, true},
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
				_, err := r.Lookup(context.Background(), testAccount, domain)
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

func tcpSilent(w dns.ResponseWriter, reply *dns.Msg) {
	if w.RemoteAddr().Network() == "udp" {
		mxtest.Truncated(w, reply)
	}
}

func record(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err)
	}
	return rr
}

func TestServerUnreachable(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Close()
	r := open(t, quick, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Unreachable)
	require.EqualValues(t, 2, r.Stats().UDP)
}

func TestCNAMELoop(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, zone))
	_, err := r.Lookup(context.Background(), testAccount, "loop.example.test")
	requireError(t, err, Failure, Loop)
}

// A server that is only authoritative stops at a CNAME out of its zones.
func TestCNAMEAcrossReplies(t *testing.T) {
	server := mxtest.New(t, zone+`
		a.test. 300 IN CNAME example.test.
		b.test. 300 IN CNAME a.test.
		round.test. 300 IN CNAME about.test.
		about.test. 300 IN CNAME round.test.`)
	server.RespondAll(firstHopOnly)
	r := open(t, Config{}, server.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "b.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	require.Equal(t, 1, server.Asked("example.test"))

	_, err = r.Lookup(context.Background(), testAccount, "round.test")
	requireError(t, err, Failure, Loop)
	require.LessOrEqual(t, server.Asked("round.test")+server.Asked("about.test"), maxHops+1)
}

func firstHopOnly(w dns.ResponseWriter, reply *dns.Msg) {
	if len(reply.Answer) > 0 && reply.Answer[0].Header().Rrtype == dns.TypeCNAME {
		reply.Answer, reply.Ns, reply.RecursionAvailable = reply.Answer[:1], nil, false
	}
	mxtest.Answer(w, reply)
}

func TestLargeReplyOverTCP(t *testing.T) {
	var big strings.Builder
	for i := range 200 {
		fmt.Fprintf(&big, "big.test. 300 IN MX %d mail-%d.example.test.\n", i, i)
	}
	server := mxtest.New(t, big.String())
	r := open(t, Config{}, server.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "big.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	udp, tcp := server.Queries()
	require.Equal(t, []int{1, 1}, []int{udp, tcp})
	require.Equal(t, []uint64{1, 1}, []uint64{r.Stats().UDP, r.Stats().TCP})
}

// A server that sends more than it was asked for over UDP is asked again over TCP.
func TestReplyLongerThanAskedFor(t *testing.T) {
	var big strings.Builder
	for i := range 60 {
		fmt.Fprintf(&big, "big.test. 300 IN MX %d mail-%d.example.test.\n", i, i)
	}
	server := mxtest.New(t, big.String())
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) { _ = w.WriteMsg(reply) })
	r := open(t, Config{}, server.Addr)
	requireMX(t, r, true, "big.test")
	require.Equal(t, []uint64{1, 1}, []uint64{r.Stats().UDP, r.Stats().TCP})
}

func TestForgedRepliesAreCounted(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.WrongID)
	r := open(t, Config{}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Stats().Ignored)
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
			mxtest.Forge(w, reply)
		}
	})
	r := open(t, Config{}, server.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
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
	found, err := open(t, Config{}, server.Addr).Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
}

// An empty datagram is ignored as any other that is no reply.
func TestEmptyDatagram(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		_, _ = w.Write(nil)
		mxtest.Answer(w, reply)
	})
	r := open(t, Config{}, server.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	require.EqualValues(t, 1, r.Stats().Ignored)
}
