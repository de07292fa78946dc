package mx

import (
	"context"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// A server that fails is followed by the next one at once, one that is silent after an interval.
// A single failure may be a hiccup: all servers fail once each of them has, and two queries have.
func TestSecondServerAnswers(t *testing.T) {
	type all = []mxtest.Responder
	slow := func(wait time.Duration) mxtest.Responder { return mxtest.After(wait, mxtest.Answer) }
	for why, test := range map[string]struct {
		c       Config
		servers all    // nil: it is down
		queries uint64 // 0: any number
		failure string // "": the lookup finds an MX record
	}{
		"silence":                      {quick, all{mxtest.Silent, mxtest.Answer}, 0, ""},
		"slowness":                     {quick, all{slow(300 * time.Millisecond), mxtest.Answer}, 0, ""},
		"not DNS":                      {quick, all{mxtest.Noise, mxtest.Answer}, 0, ""},
		"SERVFAIL":                     {patient, all{mxtest.ServFail, mxtest.Answer}, 2, ""},
		"REFUSED":                      {patient, all{mxtest.Refused, mxtest.Answer}, 2, ""},
		"garbage":                      {patient, all{mxtest.Garbage, mxtest.Answer}, 2, ""},
		"a referral":                   {patient, all{referral, mxtest.Answer}, 2, ""},
		"lameness":                     {patient, all{lame, mxtest.Answer}, 2, ""},
		"down":                         {patient, all{nil, mxtest.Answer}, 2, ""},
		"one SERVFAIL":                 {patient, all{first(1, mxtest.ServFail)}, 2, ""},
		"one REFUSED":                  {patient, all{first(1, mxtest.Refused)}, 2, ""},
		"one garbage":                  {patient, all{first(1, mxtest.Garbage)}, 2, ""},
		"one SERVFAIL, beside silence": {quick, all{first(1, mxtest.ServFail), mxtest.Silent}, 0, ""},
		"a reply after its interval":   {quick, all{slow(250 * time.Millisecond), mxtest.Silent}, 0, ""},
		"SERVFAIL twice":               {patient, all{first(2, mxtest.ServFail)}, 2, "replied SERVFAIL"},
		"REFUSED twice":                {patient, all{first(2, mxtest.Refused)}, 2, "replied REFUSED"},
		"garbage twice":                {patient, all{first(2, mxtest.Garbage)}, 2, "malformed"},
		"all fail, the first counts":   {patient, all{mxtest.ServFail, mxtest.Refused}, 2, "replied SERVFAIL"},
		"the only one is down":         {patient, all{nil}, 2, "is unreachable"},
		"a failure outranks a timeout": {Config{Timeout: 2 * time.Second, interval: 50 * time.Millisecond},
			all{mxtest.Silent, mxtest.ServFail}, 0, "replied SERVFAIL"},
	} {
		t.Run(why, func(t *testing.T) {
			var addresses []string
			for _, responder := range test.servers {
				if responder == nil {
					addresses = append(addresses, down(t))
					continue
				}
				server := mxtest.New(t, zone)
				server.RespondAll(responder)
				addresses = append(addresses, server.Addr)
			}
			if test.c.Timeout != patient.Timeout {
				t.Parallel() // it ends with its timeout
			}
			r := open(t, test.c, addresses...)
			found, err := r.Lookup(t.Context(), testAccount, "example.test")
			if test.failure == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.failure)
			}
			require.Equal(t, test.failure == "", found.MX)
			if test.queries > 0 {
				require.Equal(t, test.queries, r.Stats().UDP)
			}
		})
	}
}

// A server that is late or unreachable is asked after the others until its penalty ends.
func TestLateServersAreAskedLast(t *testing.T) {
	silent, good := mxtest.New(t, zone), mxtest.New(t, zone)
	silent.RespondAll(mxtest.Silent)
	r := open(t, quick, down(t), silent.Addr, good.Addr)
	requireMX(t, r, true, "example.test")
	r.config.interval = patient.interval
	before := r.Stats().UDP
	requireMX(t, r, true, "two.example.test")
	requireMX(t, r, false, "null.example.test")
	require.Equal(t, before+2, r.Stats().UDP)
	require.Equal(t, 1, good.Asked("two.example.test"))
	require.Equal(t, 1, good.Asked("null.example.test"))

	servers := r.servers.current()
	require.Equal(t, []*server{servers[2], servers[0], servers[1]}, inOrder(servers))
	ended := time.Now()
	servers[1].lateUntil.Store(&ended)
	require.Equal(t, []*server{servers[1], servers[2], servers[0]}, inOrder(servers))
}

func TestNXDOMAINIsFinal(t *testing.T) {
	first, second := mxtest.New(t, zone), mxtest.New(t, zone)
	r := open(t, Config{}, first.Addr, second.Addr)
	requireMX(t, r, false, "nowhere.example.test")
	require.Zero(t, second.Names())
}

// verified are names of zone, of which the first does not exist.
var verified = []string{"gone.example.test", "example.test", "two.example.test"}

// noZone is that of a resolver which denies every name.
const noZone = "else. 300 IN SOA ns.else. hm.else. 1 2 3 4 60\n"

// deny makes a server deny all names, as one without the Internet does.
func deny(w dns.ResponseWriter, m *dns.Msg) {
	m.Rcode, m.Answer, m.Ns = dns.RcodeNameError, nil, []dns.RR{record(". 3600 IN SOA ns. hm. 1 2 3 4 3600")}
	mxtest.Answer(w, m)
}

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

// requireVerdict verifies r, of which each server lies or none does.
func requireVerdict(t testing.TB, r *Resolver, lying bool) {
	t.Helper()
	lies, undecided := r.Verify(t.Context())
	require.NoError(t, undecided)
	require.Equal(t, lying, lies != nil)
}

// With Strict, a lying resolver makes no false, and a false from the time in which it
// lied unnoticed is not served later. What it confirmed before is.
func TestStrictResolver(t *testing.T) {
	server := mxtest.New(t, zone)
	r, clock := openAt(t, Config{WithMX: verified, Strict: true}, server.Addr)
	requireFailure(t, r, Failure, Unproven, "null.example.test")
	requireMX(t, r, true, "example.test")
	server.RespondAll(firstHopOnly)
	requireMX(t, r, true, "other.example.test") // a CNAME alone denies nothing
	server.RespondAll(mxtest.Answer)
	requireVerdict(t, r, false)
	requireMX(t, r, false, "null.example.test")
	require.False(t, r.Distrusted())

	server.RespondAll(deny)
	requireMX(t, r, false, "two.example.test") // not noticed yet
	requireVerdict(t, r, true)
	require.True(t, r.Distrusted())
	for _, domain := range []string{"two.example.test", "null.example.test", "alias.example.test"} {
		requireFailure(t, r, Failure, Lying, domain)
	}
	requireMX(t, r, true, "example.test")

	server.RespondAll(mxtest.Answer)
	requireFailure(t, r, Failure, Lying, "two.example.test") // until Verify sees it
	requireVerdict(t, r, false)
	require.False(t, r.Distrusted())
	clock.advance(3 * time.Second) // longer than a failure is cached
	requireMX(t, r, true, "two.example.test")
	requireMX(t, r, false, "null.example.test")
	asked := server.Asked("null.example.test")
	requireMX(t, r, false, "null.example.test")
	require.Equal(t, asked, server.Asked("null.example.test"), "a false is cached again")
}

// With Strict, a denial of addresses needs proof, and an address does not.
func TestStrictAddresses(t *testing.T) {
	server := mxtest.New(t, addressZone)
	r := open(t, Config{WithMX: []string{"mx.test"}, Strict: true}, server.Addr)
	_, err := r.lookup(t.Context(), testAccount, subject{"neither.test", addressRecords})
	requireError(t, err, Failure, Unproven)
	requireAddress(t, r, true, "a.test")
	requireVerdict(t, r, false)
	requireAddress(t, r, false, "neither.test") // what is unproven is not cached

	server.RespondAll(deny)
	requireVerdict(t, r, true)
	_, err = r.lookup(t.Context(), testAccount, subject{"neither.test", addressRecords})
	requireError(t, err, Failure, Lying)
	requireAddress(t, r, true, "a.test")
}

// Without Strict, or names to verify, a lying resolver is believed.
func TestLenientResolver(t *testing.T) {
	for _, c := range []Config{{WithMX: verified}, {Strict: true}} {
		server := mxtest.New(t, noZone)
		r := open(t, c, server.Addr)
		requireMX(t, r, false, "example.test")
		requireVerdict(t, r, c.WithMX != nil)
		require.Equal(t, max(1, len(c.WithMX)), server.Names())
		require.False(t, r.Distrusted())
		asked := server.Asked("example.test")
		requireMX(t, r, false, "example.test")
		require.Equal(t, asked, server.Asked("example.test"), "it is cached")
	}
}

// A lookup in flight when its resolver is found to lie leaves no false behind.
func TestStrictLookupInFlight(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{WithMX: verified, Strict: true}, server.Addr)
	requireVerdict(t, r, false)
	reply, release := gate()
	server.Respond("mail.example.test", reply)
	failed := start(t.Context(), r, testAccount, "mail.example.test")
	eventually(t, func() bool { return server.Asked("mail.example.test") == 1 })
	server.RespondAll(deny)
	requireVerdict(t, r, true)
	release()
	requireError(t, <-failed, Failure, Lying)

	// Its reply was believed before.
	f := &flight{subject: subject{name: "other.test"}, began: r.cache.generation.Load() - 1, ctx: t.Context()}
	require.False(t, r.record(f, result{ttl: time.Hour}, nil, 0).found)
	_, known, _ := r.Peek("other.test")
	require.False(t, known)
}

// Beside a resolver that lies, an honest one decides.
func TestStrictResolverBesideALiar(t *testing.T) {
	liar, good := mxtest.New(t, noZone), mxtest.New(t, zone)
	r := open(t, Config{WithMX: verified, Strict: true}, liar.Addr, good.Addr)
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
	good, silent, down := mxtest.New(t, zone), mxtest.New(t, zone), down(t)
	silent.RespondAll(mxtest.Silent)

	require.NoError(t, open(t, quick, good.Addr).Probe(t.Context()))
	require.NoError(t, open(t, quick, silent.Addr, down, good.Addr).Probe(t.Context()))
	good.RespondAll(mxtest.Rcode(dns.RcodeRefused))
	require.NoError(t, open(t, quick, good.Addr).Probe(t.Context()), "it replies, with any RCODE")

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := open(t, quick, silent.Addr, down).Probe(ctx)
	require.ErrorContains(t, err, silent.Addr+" did not reply in time")
	require.ErrorContains(t, err, down+" is unreachable (connection refused)")
	require.ErrorContains(t, err, "--dns")
}
