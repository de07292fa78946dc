package mx

import (
	"context"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestTheSecondServerAnswersForTheFirst(t *testing.T) {
	for why, fault := range map[string]mxtest.Responder{
		"silence":    mxtest.Silent,
		"slowness":   mxtest.After(300*time.Millisecond, mxtest.Answer),
		"SERVFAIL":   mxtest.ServFail,
		"REFUSED":    mxtest.Refused,
		"garbage":    mxtest.Garbage,
		"noise":      mxtest.Noise,
		"a referral": referral,
		"lameness":   lame,
	} {
		t.Run(why, func(t *testing.T) {
			first, second := mxtest.New(t, zone), mxtest.New(t, zone)
			first.RespondAll(fault)
			r := open(t, quickHedge, first.Addr, second.Addr)
			mx, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, mx)
			require.NotZero(t, first.Asked("example.test"))
			require.NotZero(t, second.Asked("example.test"))
		})
	}
}

// A server that was late is asked after the others for a while.
func TestLateServersAreAskedLast(t *testing.T) {
	down, silent, good := mxtest.New(t, zone), mxtest.New(t, zone), mxtest.New(t, zone)
	down.Close()
	silent.RespondAll(mxtest.Silent)
	r := open(t, Config{Hedge: 200 * time.Millisecond}, down.Addr, silent.Addr, good.Addr)
	for _, domain := range []string{"example.test", "two.example.test", "null.example.test"} {
		_, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.Equal(t, 1, good.Asked(domain))
	}
	require.Equal(t, 1, silent.Asked("example.test"))
	require.Zero(t, silent.Asked("two.example.test")+silent.Asked("null.example.test"))
}

// never is a pace that no test reaches.
var noHedge = Config{Timeout: 10 * time.Second, Hedge: time.Hour}

func TestAFailureIsNotWaitedFor(t *testing.T) {
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
	require.EqualValues(t, 3, r.Stats().UDP, "two at first, one from then on")
}

func TestAllServersFail(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.ServFail)
	second.RespondAll(mxtest.Refused)
	r := open(t, Config{}, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Rcode)
	require.EqualValues(t, 2, r.Stats().UDP, "a server that has answered is not asked again")
}

func TestAFailureTellsMoreThanSilence(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.Silent)
	second.RespondAll(mxtest.ServFail)
	r := open(t, shortTimeout, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Failure, Rcode)
	require.ErrorContains(t, err, second.Addr)
}

func TestNoSuchNameIsFinal(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	r := open(t, Config{}, first.Addr, second.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "nowhere.example.test")
	require.NoError(t, err)
	require.Zero(t, second.Asked("nowhere.example.test"))
}

func TestASlowServerIsHeard(t *testing.T) {
	slow, silent := mxtest.New(t, zone), mxtest.New(t, zone)
	slow.RespondAll(mxtest.After(250*time.Millisecond, mxtest.Answer))
	silent.RespondAll(mxtest.Silent)
	r := open(t, Config{Hedge: 20 * time.Millisecond}, slow.Addr, silent.Addr)
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
}

// A restart of the only resolver, refused at first.
func TestUnreachableIsTriedOnceMore(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Close()
	r := open(t, Config{}, server.Addr)
	go func() {
		time.Sleep(50 * time.Millisecond)
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
	require.NoError(t, open(t, quickHedge, good.Addr).Probe(context.Background()), "it answers, whatever it says")

	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := open(t, quickHedge, silent.Addr, down.Addr).Probe(ctx)
	require.ErrorContains(t, err, silent.Addr+" gave no answer in time")
	require.ErrorContains(t, err, down.Addr+" is unreachable (connection refused)")
	require.ErrorContains(t, err, "--dns")
}
