package mx

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

var (
	// hasty asks again soon, and still works on a busy machine.
	quickHedge = Config{Hedge: 50 * time.Millisecond}
	// impatient has time-outs that a test can sit through.
	shortTimeout = Config{Timeout: 400 * time.Millisecond, Hedge: 50 * time.Millisecond}
)

func TestFaultsThatAreOvercome(t *testing.T) {
	for why, fault := range map[string]mxtest.Responder{
		"truncated: asks over TCP":              mxtest.Truncated,
		"no EDNS0: asks without":                mxtest.NoEDNS,
		"not implemented: asks without EDNS0":   mxtest.First(1, mxtest.Rcode(dns.RcodeNotImplemented)),
		"two packets lost: asks again":          mxtest.First(2, mxtest.Silent),
		"slow: waits":                           mxtest.After(150*time.Millisecond, mxtest.Answer),
		"forged, wrong id: waits on":            mxtest.WrongID,
		"forged, wrong question: waits on":      mxtest.WrongQuestion,
		"forged, wrong port: waits on":          mxtest.WrongPort,
		"forged, the query itself: waits on":    mxtest.Echo,
		"noise before the answer: waits on":     noiseFirst,
		"a cut answer marked TC: asks over TCP": cutOff,
	} {
		t.Run(why, func(t *testing.T) {
			server := mxtest.New(t, zone)
			server.RespondAll(fault)
			r := open(t, quickHedge, server.Addr)
			mx, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, mx)
		})
	}
}

func noiseFirst(w dns.ResponseWriter, reply *dns.Msg) {
	mxtest.Noise(w, reply)
	mxtest.Answer(w, reply)
}

// cutOff sends half a message with the TC bit, as some old servers do.
func cutOff(w dns.ResponseWriter, reply *dns.Msg) {
	if w.RemoteAddr().Network() == "tcp" {
		mxtest.Answer(w, reply)
		return
	}
	reply.Truncated = true
	wire, _ := reply.Pack()
	_, _ = w.Write(wire[:len(wire)-12])
}

func TestFaultsThatAreErrors(t *testing.T) {
	for why, test := range map[string]struct {
		fault  mxtest.Responder
		kind   Kind
		reason Reason
		waits  bool // until time is out
	}{
		"silence":                      {mxtest.Silent, Timeout, NoAnswer, true},
		"SERVFAIL":                     {mxtest.ServFail, Failure, Rcode, false},
		"REFUSED":                      {mxtest.Refused, Failure, Rcode, false},
		"FORMERR even without EDNS0":   {mxtest.Rcode(dns.RcodeFormatError), Failure, Rcode, false},
		"records that do not decode":   {mxtest.Garbage, Failure, Malformed, false},
		"a header and nothing behind":  {mxtest.HeaderOnly, Failure, Malformed, false},
		"only noise":                   {mxtest.Noise, Failure, Malformed, true},
		"a referral":                   {referral, Failure, Lame, false},
		"neither recurses nor knows":   {lame, Failure, Lame, false},
		"truncated on TCP too":         {alwaysTruncated, Failure, Malformed, false},
		"truncated, and TCP is silent": {tcpSilent, Timeout, NoAnswer, true},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			server := mxtest.New(t, zone)
			server.RespondAll(test.fault)
			c := quickHedge
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

func TestNobodyListens(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Close()
	r := open(t, quickHedge, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Unreachable)
	require.Less(t, r.Stats().UDP, uint64(minQueries), "twice unreachable is enough")
}

func TestCNAMELoopIsNoAnswer(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, zone))
	_, err := r.Lookup(context.Background(), testAccount, "loop.example.test")
	requireError(t, err, Failure, Loop)
}

// A server that is only authoritative stops where a CNAME leaves its zones.
func TestCNAMEIsFollowedAcrossAnswers(t *testing.T) {
	server := mxtest.New(t, zone+`
		a.test. 300 IN CNAME example.test.
		b.test. 300 IN CNAME a.test.
		round.test. 300 IN CNAME about.test.
		about.test. 300 IN CNAME round.test.`)
	server.RespondAll(firstHopOnly)
	r := open(t, Config{}, server.Addr)
	mx, err := r.Lookup(context.Background(), testAccount, "b.test")
	require.NoError(t, err)
	require.True(t, mx)
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

func TestLargeAnswersComeOverTCP(t *testing.T) {
	var big strings.Builder
	for i := range 200 {
		fmt.Fprintf(&big, "big.test. 300 IN MX %d mail-%d.example.test.\n", i, i)
	}
	server := mxtest.New(t, big.String())
	r := open(t, Config{}, server.Addr)
	mx, err := r.Lookup(context.Background(), testAccount, "big.test")
	require.NoError(t, err)
	require.True(t, mx)
	udp, tcp := server.Queries()
	require.Equal(t, []int{1, 1}, []int{udp, tcp})
	require.Equal(t, []uint64{1, 1}, []uint64{r.Stats().UDP, r.Stats().TCP})
}

func TestForgedAnswersAreCounted(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.WrongID)
	r := open(t, Config{}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Stats().Ignored)
}

// An attacker who guesses ids must not get all 65,536 tries.
func TestAFloodOfForgeriesIsLeftForTCP(t *testing.T) {
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
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
	s := r.Stats()
	require.Equal(t, []uint64{1, 1, maxIgnored}, []uint64{s.UDP, s.TCP, s.Ignored})
}

func TestOverIPv6(t *testing.T) {
	server, err := mxtest.Listen("[::1]:0", zone)
	if err != nil {
		t.Skip("no IPv6 on loopback: ", err)
	}
	t.Cleanup(server.Close)
	mx, err := open(t, Config{}, server.Addr).Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
}
