package mx

import (
	"context"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestSecondServerAnswers(t *testing.T) {
	for why, responder := range map[string]mxtest.Responder{
		"silence":    mxtest.Silent,
		"slowness":   mxtest.After(300*time.Millisecond, mxtest.Answer),
		"SERVFAIL":   mxtest.ServFail,
		"REFUSED":    mxtest.Refused,
		"garbage":    mxtest.Garbage,
		"not DNS":    mxtest.Noise,
		"a referral": referral,
		"lameness":   lame,
	} {
		t.Run(why, func(t *testing.T) {
			first, second := mxtest.New(t, zone), mxtest.New(t, zone)
			first.RespondAll(responder)
			r := open(t, quickHedge, first.Addr, second.Addr)
			mx, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, mx)
			require.NotZero(t, first.Asked("example.test"))
			require.NotZero(t, second.Asked("example.test"))
		})
	}
}

// A late server is asked after the others until its penalty ends.
func TestLateServersAreAskedLast(t *testing.T) {
	down, silent, good := mxtest.New(t, zone), mxtest.New(t, zone), mxtest.New(t, zone)
	down.Close()
	silent.RespondAll(mxtest.Silent)
	r := open(t, Config{hedge: 200 * time.Millisecond}, down.Addr, silent.Addr, good.Addr)
	for _, domain := range []string{"example.test", "two.example.test", "null.example.test"} {
		_, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.Equal(t, 1, good.Asked(domain))
	}
	require.Equal(t, 1, silent.Asked("example.test"))
	require.Zero(t, silent.Asked("two.example.test")+silent.Asked("null.example.test"))
}

// noHedge has an interval that no test reaches.
var noHedge = Config{Timeout: 2 * time.Minute, hedge: time.Hour}

func TestFailureAsksNextServerAtOnce(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.ServFail)
	r := open(t, noHedge, first.Addr, second.Addr)
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
}

func TestUnreachableServersAreAskedLast(t *testing.T) {
	down, good := mxtest.New(t, zone), mxtest.New(t, zone)
	down.Close()
	r := open(t, noHedge, down.Addr, good.Addr)
	for _, domain := range []string{"example.test", "two.example.test"} {
		_, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
	}
	require.EqualValues(t, 3, r.Stats().UDP, "two for the first domain, one for the second")
}

func TestAllServersFail(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.ServFail)
	second.RespondAll(mxtest.Refused)
	r := open(t, Config{}, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Rcode)
	require.EqualValues(t, 2, r.Stats().UDP, "a server that replied is not asked again")
}

func TestFailureOutranksTimeout(t *testing.T) {
	t.Parallel()
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.Silent)
	second.RespondAll(mxtest.ServFail)
	r := open(t, Config{Timeout: 2 * time.Second, hedge: 50 * time.Millisecond}, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, second.Addr)
}

func TestNXDOMAINIsFinal(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	r := open(t, Config{}, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "nowhere.example.test")
	require.NoError(t, err)
	require.Zero(t, second.Asked("nowhere.example.test"))
}

func TestSlowServerAnswers(t *testing.T) {
	slow, silent := mxtest.New(t, zone), mxtest.New(t, zone)
	slow.RespondAll(mxtest.After(250*time.Millisecond, mxtest.Answer))
	silent.RespondAll(mxtest.Silent)
	r := open(t, Config{hedge: 20 * time.Millisecond}, slow.Addr, silent.Addr)
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
}

// The only resolver restarts: the first query is refused, the second succeeds.
func TestUnreachableIsRetriedOnce(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Close()
	r := open(t, Config{hedge: time.Second, Timeout: 2 * time.Minute}, server.Addr)
	go func() {
		eventually(t, func() bool { return r.Stats().UDP > 0 })
		if again, err := mxtest.Listen(server.Addr, zone); err == nil {
			t.Cleanup(again.Close)
		}
	}()
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
}

func TestProbe(t *testing.T) {
	good, silent, down := mxtest.New(t, zone), mxtest.New(t, zone), mxtest.New(t, zone)
	silent.RespondAll(mxtest.Silent)
	down.Close()

	require.NoError(t, open(t, quickHedge, good.Addr).Probe(context.Background()))
	require.NoError(t, open(t, quickHedge, silent.Addr, down.Addr, good.Addr).Probe(context.Background()))
	good.RespondAll(mxtest.Rcode(dns.RcodeRefused))
	require.NoError(t, open(t, quickHedge, good.Addr).Probe(context.Background()), "it replies, with any RCODE")

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := open(t, quickHedge, silent.Addr, down.Addr).Probe(ctx)
	require.ErrorContains(t, err, silent.Addr+" did not reply in time")
	require.ErrorContains(t, err, down.Addr+" is unreachable (connection refused)")
	require.ErrorContains(t, err, "--dns")
}
