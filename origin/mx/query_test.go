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
			r := open(t, quick, first.Addr, second.Addr)
			found, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, found.MX)
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
	r := open(t, Config{interval: 200 * time.Millisecond}, down.Addr, silent.Addr, good.Addr)
	for _, domain := range []string{"example.test", "two.example.test", "null.example.test"} {
		_, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.Equal(t, 1, good.Asked(domain))
	}
	require.Equal(t, 1, silent.Asked("example.test"))
	require.Zero(t, silent.Asked("two.example.test")+silent.Asked("null.example.test"))
}

// patient has an interval that no test reaches.
var patient = Config{Timeout: 2 * time.Minute, interval: time.Hour}

// One resolver whose first reply is SERVFAIL or REFUSED is asked again; the second failure counts.
func TestHiccup(t *testing.T) {
	for why, responder := range map[string]mxtest.Responder{"SERVFAIL": mxtest.ServFail, "REFUSED": mxtest.Refused, "garbage": mxtest.Garbage} {
		server := mxtest.New(t, zone)
		r := open(t, patient, server.Addr)
		server.RespondAll(mxtest.First(1, responder))
		requireMX(t, r, true, "example.test")
		require.Equal(t, 2, server.Asked("example.test"), why)
		server.RespondAll(mxtest.First(2, responder))
		_, err := r.Lookup(t.Context(), testAccount, "two.example.test")
		require.ErrorAs(t, err, new(*Error), why)
		require.Equal(t, 2, server.Asked("two.example.test"), why)
	}
}

// A hiccup beside a server that is down is none either: the first one is asked again.
func TestHiccupBesideSilence(t *testing.T) {
	server, silent := mxtest.New(t, zone), mxtest.New(t, zone)
	server.RespondAll(mxtest.First(1, mxtest.ServFail))
	silent.RespondAll(mxtest.Silent)
	r := open(t, quick, server.Addr, silent.Addr)
	requireMX(t, r, true, "example.test")
}

func TestFailureAsksNextServerAtOnce(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.ServFail)
	r := open(t, patient, first.Addr, second.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
}

func TestUnreachableServersAreAskedLast(t *testing.T) {
	down, good := mxtest.New(t, zone), mxtest.New(t, zone)
	down.Close()
	r := open(t, patient, down.Addr, good.Addr)
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

// A lookup ends with its timeout, also if the next query is due later and none is running.
func TestTimeoutWithoutQuery(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if w.RemoteAddr().Network() == "tcp" {
			w.Close()
			return
		}
		mxtest.Truncated(w, reply)
	})
	r := open(t, Config{Timeout: 200 * time.Millisecond, interval: time.Hour}, server.Addr)
	for _, lookup := range []func() error{
		func() error { _, err := r.Lookup(t.Context(), testAccount, "example.test"); return err },
		func() error { _, err := hasAddress(r, t.Context(), testAccount, "example.test"); return err },
	} {
		requireError(t, lookup(), Failure, Unreachable)
	}
}

func TestFailureOutranksTimeout(t *testing.T) {
	t.Parallel()
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	first.RespondAll(mxtest.Silent)
	second.RespondAll(mxtest.ServFail)
	r := open(t, Config{Timeout: 2 * time.Second, interval: 50 * time.Millisecond}, first.Addr, second.Addr)
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
	r := open(t, Config{interval: 20 * time.Millisecond}, slow.Addr, silent.Addr)
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
}

// The only resolver restarts: the first query is refused, the second succeeds.
func TestUnreachableIsRetriedOnce(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Close()
	r := open(t, Config{pause: time.Second, interval: time.Hour, Timeout: 2 * time.Minute}, server.Addr)
	go func() {
		eventually(t, func() bool { return r.Stats().UDP > 0 })
		if again, err := mxtest.Listen(server.Addr, zone); err == nil {
			t.Cleanup(again.Close)
		}
	}()
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
}

// verified are names of zone, of which the first does not exist.
var verified = []string{"gone.example.test", "example.test", "two.example.test"}

// noZone is that of a resolver which denies every name.
const noZone = "else. 300 IN SOA ns.else. hm.else. 1 2 3 4 60\n"

func TestVerify(t *testing.T) {
	honest, liar, broken := mxtest.New(t, zone), mxtest.New(t, noZone), mxtest.New(t, zone)
	broken.RespondAll(mxtest.ServFail)
	r := open(t, Config{WithMX: verified}, honest.Addr, liar.Addr, broken.Addr)
	lies, undecided := r.Verify(t.Context())
	require.ErrorContains(t, lies, "resolver "+liar.Addr+" denies the MX records of every domain of --dns-with-mx")
	require.NotContains(t, lies.Error(), honest.Addr)
	require.ErrorContains(t, undecided, broken.Addr+" replied SERVFAIL")
	require.NotContains(t, undecided.Error(), liar.Addr)
	require.Equal(t, 1, r.Stats().Lying)

	liar.RespondAll(mxtest.Silent) // no lie, and no proof that it is honest now
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	lies, undecided = r.Verify(ctx)
	require.NoError(t, lies)
	require.ErrorContains(t, undecided, liar.Addr+" did not reply in time")
	require.Equal(t, 1, r.Stats().Lying)
}

// Without names nothing is asked.
func TestVerifyNothing(t *testing.T) {
	liar := mxtest.New(t, noZone)
	r := open(t, Config{Strict: true}, liar.Addr)
	lies, undecided := r.Verify(t.Context())
	require.NoError(t, lies)
	require.NoError(t, undecided)
	require.Zero(t, liar.Names())
	found, err := r.Lookup(t.Context(), testAccount, "example.test")
	require.NoError(t, err)
	require.False(t, found.MX)
}

func TestVerifySettings(t *testing.T) {
	for _, domain := range []string{"", "bücher.example", "a..b", "a b"} {
		_, err := New(Config{Servers: []string{"127.0.0.1:53"}, WithMX: []string{domain}})
		require.ErrorContains(t, err, "--dns-with-mx", domain)
	}
	_, err := New(Config{Servers: []string{"127.0.0.1:53"}, WithMX: make([]string, maxWithMX+1)})
	require.ErrorContains(t, err, "8 at most")
}

func requireReason(t *testing.T, r *Resolver, reason Reason, domain string) {
	t.Helper()
	_, err := r.Lookup(t.Context(), testAccount, domain)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, Failure, failure.Kind)
	require.Equal(t, reason, failure.Reason, failure)
}

func requireMX(t *testing.T, r *Resolver, mx bool, domain string) {
	t.Helper()
	found, err := r.Lookup(t.Context(), testAccount, domain)
	require.NoError(t, err, domain)
	require.Equal(t, mx, found.MX, domain)
}

// deny makes a server deny all names, as one without the Internet does.
func deny(w dns.ResponseWriter, m *dns.Msg) {
	m.Rcode, m.Answer, m.Ns = dns.RcodeNameError, nil, []dns.RR{record(". 3600 IN SOA ns. hm. 1 2 3 4 3600")}
	mxtest.Answer(w, m)
}

// With Strict, a lying resolver makes no false, and a false from the time in which it
// lied unnoticed is not served later. What it confirmed before is.
func TestStrictResolver(t *testing.T) {
	server := mxtest.New(t, zone)
	r, clock := openAt(t, Config{WithMX: verified, Strict: true}, server.Addr)
	requireReason(t, r, Unproven, "null.example.test")
	requireMX(t, r, true, "example.test")
	_, _ = r.Verify(t.Context())
	requireMX(t, r, false, "null.example.test")
	require.False(t, r.Distrusted())

	server.RespondAll(deny)
	requireMX(t, r, false, "two.example.test") // not noticed yet
	lies, _ := r.Verify(t.Context())
	require.Error(t, lies)
	require.True(t, r.Distrusted())
	requireReason(t, r, Lying, "two.example.test")
	requireReason(t, r, Lying, "null.example.test")
	requireReason(t, r, Lying, "alias.example.test")
	requireMX(t, r, true, "example.test")

	server.RespondAll(mxtest.Answer)
	requireReason(t, r, Lying, "two.example.test") // until Verify sees it
	lies, undecided := r.Verify(t.Context())
	require.NoError(t, lies)
	require.NoError(t, undecided)
	require.False(t, r.Distrusted())
	clock.advance(3 * time.Second) // longer than a failure is cached
	requireMX(t, r, true, "two.example.test")
	requireMX(t, r, false, "null.example.test")
}

// Without Strict, responses do not change.
func TestLenientResolver(t *testing.T) {
	server := mxtest.New(t, noZone)
	r := open(t, Config{WithMX: verified}, server.Addr)
	requireMX(t, r, false, "example.test")
	lies, _ := r.Verify(t.Context())
	require.Error(t, lies)
	require.False(t, r.Distrusted())
	requireMX(t, r, false, "example.test")
	require.Equal(t, 2, server.Asked("example.test"), "by Lookup, which caches it, and by Verify")
}

// A lookup in flight when its resolver is found to lie leaves no false behind.
func TestStrictLookupInFlight(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{WithMX: verified, Strict: true}, server.Addr)
	_, _ = r.Verify(t.Context())
	asked, reply := make(chan struct{}), make(chan struct{})
	server.Respond("mail.example.test", func(w dns.ResponseWriter, m *dns.Msg) {
		select {
		case asked <- struct{}{}:
			<-reply
		case <-reply: // it is asked again
		}
		deny(w, m)
	})
	failed := make(chan error)
	go func() {
		_, err := r.Lookup(context.Background(), testAccount, "mail.example.test")
		failed <- err
	}()
	<-asked
	server.RespondAll(deny)
	lies, _ := r.Verify(t.Context())
	require.Error(t, lies)
	close(reply)
	require.ErrorContains(t, <-failed, "denies the MX records")

	// Its reply was believed before.
	require.False(t, r.record(&flight{subject: subject{name: "other.test"}, began: r.cache.generation.Load() - 1, ctx: t.Context()}, result{ttl: time.Hour}, nil, 0).found)
	_, known, _ := r.Peek("other.test")
	require.False(t, known)
}

// Beside a resolver that lies, an honest one decides.
func TestStrictResolverBesideALiar(t *testing.T) {
	liar, good := mxtest.New(t, noZone), mxtest.New(t, zone)
	r := open(t, Config{WithMX: verified, Strict: true, Timeout: 2 * time.Minute, interval: time.Hour}, liar.Addr, good.Addr)
	_, _ = r.Verify(t.Context())
	require.False(t, r.Distrusted())
	requireMX(t, r, true, "example.test")
	requireMX(t, r, false, "null.example.test")
}

// A resolver that does not reply to the names is not one that lies.
func TestStrictResolverThatIsSilentAboutTheNames(t *testing.T) {
	server := mxtest.New(t, zone)
	for _, name := range verified {
		server.Respond(name, mxtest.Silent)
	}
	r := open(t, Config{WithMX: verified, Strict: true}, server.Addr)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	lies, undecided := r.Verify(ctx)
	require.NoError(t, lies)
	require.Error(t, undecided)
	require.False(t, r.Distrusted())
	requireMX(t, r, false, "null.example.test")
}

func TestProbe(t *testing.T) {
	good, silent, down := mxtest.New(t, zone), mxtest.New(t, zone), mxtest.New(t, zone)
	silent.RespondAll(mxtest.Silent)
	down.Close()

	require.NoError(t, open(t, quick, good.Addr).Probe(context.Background()))
	require.NoError(t, open(t, quick, silent.Addr, down.Addr, good.Addr).Probe(context.Background()))
	good.RespondAll(mxtest.Rcode(dns.RcodeRefused))
	require.NoError(t, open(t, quick, good.Addr).Probe(context.Background()), "it replies, with any RCODE")

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := open(t, quick, silent.Addr, down.Addr).Probe(ctx)
	require.ErrorContains(t, err, silent.Addr+" did not reply in time")
	require.ErrorContains(t, err, down.Addr+" is unreachable (connection refused)")
	require.ErrorContains(t, err, "--dns")
}
