package mx

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// zone is the zone of most tests.
const zone = `
example.test.        300 IN SOA   ns.example.test. hostmaster.example.test. 1 3600 600 86400 60
example.test.        300 IN MX    10 mail.example.test.
mail.example.test.   300 IN A     192.0.2.1
two.example.test.    300 IN MX    10 mail.example.test.
two.example.test.    300 IN MX    20 mail.elsewhere.test.
null.example.test.   300 IN MX    0 .
mixed.example.test.  300 IN MX    0 .
mixed.example.test.  300 IN MX    10 mail.example.test.
numeric.example.test. 300 IN MX   10 192.0.2.1.
score.example.test.  300 IN MX    10 mail_1.example.test.
space.example.test.  300 IN MX    10 mail\032one.example.test.
local.example.test.  300 IN MX    10 localhost.
text.example.test.   300 IN TXT   "mail goes elsewhere"
deep.under.example.test. 300 IN A 192.0.2.1
alias.example.test.  300 IN CNAME other.example.test.
other.example.test.  300 IN CNAME example.test.
lost.example.test.   300 IN CNAME nowhere.example.test.
bare.example.test.   300 IN CNAME mail.example.test.
loop.example.test.   300 IN CNAME pool.example.test.
pool.example.test.   300 IN CNAME loop.example.test.
xn--bcher-kva.test.  300 IN MX    10 mail.example.test.
big.test.            300 IN SOA   ns.big.test. hostmaster.big.test. 1 3600 600 86400 60
*.any.example.test.  300 IN MX    10 mail.example.test.
`

// testAccount is the account of tests that are not about accounts.
const testAccount = 1

// open returns a Resolver that uses servers, and closes it when the test ends.
func open(t testing.TB, c Config, servers ...string) *Resolver {
	t.Helper()
	if c.Timeout == 0 && c.interval == 0 {
		c.Timeout, c.interval = patient.Timeout, patient.interval // a slow machine repeats no query
	}
	if c.pause == 0 {
		c.pause = time.Millisecond
	}
	c.Servers = servers
	r, err := New(c)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

func TestLookup(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, zone))
	for _, test := range []struct {
		why, domain string
		mx          bool
	}{
		{"one record", "example.test", true},
		{"several records", "two.example.test", true},
		{"any case", "ExAmPlE.tEsT", true},
		{"a final dot", "example.test.", true},
		{"IDN as A-label", "xn--bcher-kva.test", true},
		{"from a wildcard", "whatever.any.example.test", true},
		{"CNAMEs to a domain with MX", "alias.example.test", true},
		{"null MX beside another, against RFC 7505", "mixed.example.test", true},
		{"null MX", "null.example.test", false},
		{"no data beside an address", "mail.example.test", false},
		{"no data beside other types", "text.example.test", false},
		{"an empty non-terminal", "under.example.test", false},
		{"NXDOMAIN", "nowhere.example.test", false},
		{"CNAME to NXDOMAIN", "lost.example.test", false},
		{"CNAME to no data", "bare.example.test", false},
		{"localhost as exchange", "local.example.test", false},
		{"an address as exchange", "numeric.example.test", false},
		{"an exchange with an underscore", "score.example.test", true},
		{"an exchange with a space", "space.example.test", false},
	} {
		found, err := r.Lookup(context.Background(), testAccount, test.domain)
		require.NoError(t, err, test.why)
		require.Equal(t, test.mx, found.MX, test.why)
	}
}

func TestLookupInvalidNames(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{}, server.Addr)
	label := strings.Repeat("a", 63)
	for why, domain := range map[string]string{
		"empty": "", "a dot alone": ".", "an empty label": "a..test", "a leading dot": ".example.test",
		"two final dots":   "example.test..",
		"a label too long": label + "a.test",
		"a name too long":  strings.Join([]string{label, label, label, label}, "."),
		"an IPv4 literal":  "[192.0.2.1]",
		"an IPv6 literal":  "[IPv6:2001:db8::1]",
		"an escape":        `a\.example.test`,
		"a space":          "exa mple.test",
		"a NUL":            "example\x00.test",
	} {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err, why)
		require.False(t, found.MX, why)
	}
	udp, tcp := server.Queries()
	require.Zero(t, udp+tcp)

	_, err := r.Lookup(context.Background(), testAccount, "bücher.test")
	requireError(t, err, Failure, NotALabel)
}

func TestLookupLongestName(t *testing.T) {
	label := strings.Repeat("a", 63)
	name := strings.Join([]string{label, label, label, strings.Repeat("b", 61)}, ".")
	require.Len(t, name, maxName)
	r := open(t, Config{}, mxtest.Start(t, name+". 300 IN MX 10 mail.test."))
	found, err := r.Lookup(context.Background(), testAccount, name)
	require.NoError(t, err)
	require.True(t, found.MX)
}

func TestLookupContext(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r := open(t, Config{}, server.Addr)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := r.Lookup(ctx, testAccount, "example.test")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Zero(t, r.Stats().InFlight, "no lookup without a caller")
}

func TestCloseEndsLookups(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Respond("slow.test", mxtest.Silent)
	r := open(t, Config{}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		_, err := r.Lookup(context.Background(), testAccount, "slow.test")
		ended <- err
	}()
	eventually(t, func() bool { return server.Asked("slow.test") > 0 })
	r.Close()
	requireError(t, <-ended, Failure, Closed)
	_, err = r.Lookup(context.Background(), testAccount, "new.test")
	requireError(t, err, Failure, Closed)
	found, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err, "cached results are still served")
	require.True(t, found.MX)
}

// requireError requires an *Error of kind and reason that contains no domain.
func requireError(t testing.TB, err error, kind Kind, reason Reason) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, err.Error())
	require.Equal(t, reason, e.Reason, err.Error())
	require.NotContains(t, err.Error(), ".test")
}

// Result.Exchanges and Result.Fallback, for each form that a zone may have.
func TestExchanges(t *testing.T) {
	label := strings.Repeat("a", maxLabel)
	longest := strings.Join([]string{label, label, label, strings.Repeat("b", maxName-3*(maxLabel+1))}, ".")
	server := mxtest.New(t, zone+`
		case.test.      300 IN MX 10 MAIL.Case.Test.
		order.test.     300 IN MX 20 a.test.
		order.test.     300 IN MX 5 z.test.
		order.test.     300 IN MX 10 y.test.
		order.test.     300 IN MX 10 B.test.
		twice.test.     300 IN MX 20 a.test.
		twice.test.     300 IN MX 10 b.test.
		twice.test.     300 IN MX 5 A.TEST.
		twice.test.     300 IN MX 5 a.test.
		invalid.test.   300 IN MX 10 mx.invalid.
		some.test.      300 IN MX 0 .
		some.test.      300 IN MX 1 localhost.
		some.test.      300 IN MX 2 mx.invalid.
		some.test.      300 IN MX 3 192.0.2.1.
		some.test.      300 IN MX 4 mail_1.test.
		some.test.      300 IN MX 5 a\.b.test.
		some.test.      300 IN MX 6 mail.test.
		renamed.test.   300 IN MX 10 pseudonym.test.
		pseudonym.test. 300 IN CNAME mail.example.test.
		self.test.      300 IN MX 10 self.test.
		longest.test.   300 IN MX 10 `+longest+`.
	`)
	r := open(t, Config{}, server.Addr)
	for _, test := range []struct {
		why, domain string
		want        Result
	}{
		{"one record", "example.test", Result{MX: true, Exchanges: "mail.example.test"}},
		{"several records", "two.example.test", Result{MX: true, Exchanges: "mail.example.test mail.elsewhere.test"}},
		{"the domain is a CNAME", "alias.example.test", Result{MX: true, Exchanges: "mail.example.test"}},
		{"upper case", "case.test", Result{MX: true, Exchanges: "mail.case.test"}},
		{"by preference, then by name", "order.test", Result{MX: true, Exchanges: "z.test b.test y.test a.test"}},
		{"a name twice counts with its lowest preference", "twice.test", Result{MX: true, Exchanges: "a.test b.test"}},
		{"null MX and others that are no exchange, beside two", "some.test", Result{MX: true, Exchanges: "mail_1.test mail.test"}},
		{"the exchange is a CNAME", "renamed.test", Result{MX: true, Exchanges: "pseudonym.test"}},
		{"the domain itself", "self.test", Result{MX: true, Exchanges: "self.test"}},
		{"the longest name", "longest.test", Result{MX: true, Exchanges: longest}},
		{"null MX", "null.example.test", Result{}},
		{"localhost", "local.example.test", Result{}},
		{"a name below .invalid", "invalid.test", Result{}},
		{"an address", "numeric.example.test", Result{}},
		{"an underscore", "score.example.test", Result{MX: true, Exchanges: "mail_1.example.test"}},
		{"an escape", "space.example.test", Result{}},
		{"no data beside an address", "mail.example.test", Result{Fallback: true}},
		{"no data beside other types", "text.example.test", Result{Fallback: true}},
		{"an empty non-terminal", "under.example.test", Result{Fallback: true}},
		{"CNAME to no data", "bare.example.test", Result{Fallback: true}},
		{"NXDOMAIN", "nowhere.example.test", Result{}},
		{"CNAME to NXDOMAIN", "lost.example.test", Result{}},
		{"a name that cannot be", "a..test", Result{}},
	} {
		for _, when := range []string{"not cached", "cached"} {
			found, err := r.Lookup(t.Context(), testAccount, test.domain)
			require.NoError(t, err, test.why)
			require.Equal(t, test.want, found, "%s, %s", test.why, when)
		}
		found, known, err := r.Peek(test.domain)
		require.NoError(t, err, test.why)
		require.True(t, known, test.why)
		require.Equal(t, test.want, found, test.why)
	}
	require.Zero(t, server.Asked("pseudonym.test"), "an exchange is not looked up")
}

// As many records as fit into a message over TCP: of some exchanges each again and again,
// or each of another. The list is cut at the end of a name.
func TestExchangesAreBounded(t *testing.T) {
	for _, test := range []struct{ records, exchanges int }{{3900, 90}, {3200, 3200}} {
		var many strings.Builder
		for i := range test.records {
			n := i % test.exchanges
			fmt.Fprintf(&many, "many-exchanges.test. 300 IN MX %d %03x.many-exchanges.test.\n", n/10, n)
		}
		server := mxtest.New(t, many.String())
		server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
			reply.Compress = true
			mxtest.Answer(w, reply)
		})
		r := open(t, Config{}, server.Addr)
		found, err := r.Lookup(t.Context(), testAccount, "many-exchanges.test")
		require.NoError(t, err)
		require.True(t, found.MX)
		require.NotZero(t, r.Stats().TCP)
		require.LessOrEqual(t, len(found.Exchanges), maxExchanges)
		require.Greater(t, len(found.Exchanges), maxExchanges-len(" 000.many-exchanges.test"))
		names := strings.Split(found.Exchanges, " ")
		require.Equal(t, "*", names[len(names)-1])
		for i, name := range names[:len(names)-1] {
			require.Equal(t, fmt.Sprintf("%03x.many-exchanges.test", i), name)
		}
	}
}

func TestCutExchanges(t *testing.T) {
	for _, test := range []struct {
		why   string
		sizes []int // of the names
		want  int   // names that stay; -1: all
	}{
		{"at the limit", []int{253, 253, 253, 253, 8}, -1},
		{"one byte above", []int{253, 253, 253, 253, 9}, 4},
		{"no room for the rest's sign", []int{253, 253, 253, 253, 6, 8}, 5},
		{"a byte too few for it", []int{253, 253, 253, 253, 7, 8}, 4},
	} {
		var list []dns.RR
		var names []string
		for i, size := range test.sizes {
			names = append(names, strings.Repeat(strings.Repeat(string(rune('a'+i)), 40)+".", 7)[:size-1]+"x")
			list = append(list, &dns.MX{Preference: 1, Mx: names[i] + "."})
		}
		want := strings.Join(names, " ")
		if test.want >= 0 {
			want = strings.Join(names[:test.want], " ") + " *"
		}
		require.Equal(t, want, exchangesOf(list), test.why)
	}
}

// addressZone has an SOA, so that negative results have a TTL of a minute.
const addressZone = `
	test.           300 IN SOA   ns.test. hm.test. 1 3600 600 86400 60
	a.test.         200 IN A     192.0.2.1
	aaaa.test.      200 IN AAAA  2001:db8::1
	both.test.      200 IN A     192.0.2.1
	both.test.      200 IN AAAA  2001:db8::1
	neither.test.   200 IN TXT   "no address"
	mx.test.        200 IN MX    10 a.test.
	to-a.test.      200 IN CNAME a.test.
	to-aaaa.test.   200 IN CNAME aaaa.test.
	to-none.test.   200 IN CNAME nowhere.test.
	to-text.test.   200 IN CNAME neither.test.
	loop.test.      200 IN CNAME pool.test.
	pool.test.      200 IN CNAME loop.test.
`

func TestLookupAddress(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, `
		mx.test.      3600 IN MX   10 mail.mx.test.
		mx.test.      3600 IN A    192.0.2.1
		a.test.       3600 IN A    192.0.2.1
		neither.test. 3600 IN TXT  "x"
		null.test.    3600 IN MX   0 .
		null.test.    3600 IN A    192.0.2.1
	`))
	for domain, want := range map[string]Result{
		"mx.test":      {MX: true, Exchanges: "mail.mx.test"},
		"a.test":       {Fallback: true, AddressRecord: true},
		"neither.test": {Fallback: true},
		"null.test":    {},
		"absent.test":  {},
	} {
		got, err := r.LookupAddress(t.Context(), testAccount, domain)
		require.NoError(t, err)
		require.Equal(t, want, got, domain)
	}
	_, err := r.LookupAddress(t.Context(), testAccount, "bücher.test")
	require.Error(t, err)
}

// PeekAddress is known once LookupAddress is, without a query and as one hit for each.
func TestPeekAddress(t *testing.T) {
	server := mxtest.New(t, zone+"\naddr.test. 300 IN A 192.0.2.1\naddr.test. 300 IN SOA a. b. 1 2 3 4 300\nnone.test. 300 IN TXT x\nnone.test. 300 IN SOA a. b. 1 2 3 4 300")
	r := open(t, Config{}, server.Addr)
	for _, domain := range []string{"addr.test", "none.test", "example.test"} {
		_, known, err := r.PeekAddress(domain)
		require.NoError(t, err)
		require.False(t, known, "before any lookup")
		want, err := r.Lookup(t.Context(), testAccount, domain)
		require.NoError(t, err)
		_, known, err = r.PeekAddress(domain)
		require.NoError(t, err)
		require.Equal(t, !want.Fallback, known, "%s, without its address", domain)
		want, err = r.LookupAddress(t.Context(), testAccount, domain)
		require.NoError(t, err)
		queries := server.Asked(domain)
		got, known, err := r.PeekAddress(domain)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, want, got)
		require.Equal(t, queries, server.Asked(domain))
	}
	known, isKnown, err := r.PeekAddress("a..b")
	require.True(t, isKnown && known == Result{} && err == nil)
}

// A failed lookup of the address record hides no MX that is known to be none: neither an error
// for either type, nor silence for as long as both lookups may take, nor a caller who leaves.
func TestLookupAddressFails(t *testing.T) {
	server := mxtest.New(t, addressZone)
	for name, responder := range map[string]mxtest.Responder{
		"aaaa.test": onlyFor(dns.TypeAAAA, mxtest.ServFail), "a.test": onlyFor(dns.TypeA, mxtest.ServFail), "neither.test": onlyFor(dns.TypeA, mxtest.Silent),
	} {
		server.Respond(name, responder)
	}
	c := shortTimeout
	c.FailureTTL = time.Hour
	r := open(t, c, server.Addr)
	for _, domain := range []string{"aaaa.test", "a.test", "neither.test"} {
		found, err := r.LookupAddress(t.Context(), testAccount, domain)
		require.NoError(t, err, domain)
		require.Equal(t, Result{Fallback: true, AddressUnknown: true}, found, domain)
		found, known, err := r.PeekAddress(domain)
		require.True(t, known, domain)
		require.NoError(t, err, domain)
		require.Equal(t, Result{Fallback: true, AddressUnknown: true}, found, domain)
	}
	_, err := r.Lookup(t.Context(), testAccount, "to-text.test")
	require.NoError(t, err)
	left, leave := context.WithCancel(t.Context())
	leave()
	found, err := r.LookupAddress(left, testAccount, "to-text.test")
	require.NoError(t, err)
	require.Equal(t, Result{Fallback: true, AddressUnknown: true}, found)
}

// hasAddress reports whether domain has an A or AAAA record.
func hasAddress(r *Resolver, ctx context.Context, account int64, domain string) (bool, error) {
	e, err := r.lookup(ctx, account, subject{domain, addressRecords})
	return e.found, err
}

// onlyFor returns a Responder that is then for one type, and else Answer.
func onlyFor(qtype uint16, then mxtest.Responder) mxtest.Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Qtype == qtype {
			then(w, reply)
			return
		}
		mxtest.Answer(w, reply)
	}
}

// hasAddress, by the queries that it takes: AAAA only if the name exists without A.
func TestHasAddress(t *testing.T) {
	for why, responder := range map[string]mxtest.Responder{"recursive": mxtest.Answer, "only authoritative": firstHopOnly} {
		server := mxtest.New(t, addressZone)
		server.RespondAll(responder)
		r, clock := openAt(t, Config{}, server.Addr)
		for _, test := range []struct {
			domain  string
			has     bool
			queries int
			ttl     time.Duration
		}{
			{"a.test", true, 1, 200 * time.Second},
			{"A.Test.", true, 1, 200 * time.Second}, // cached as a.test
			{"aaaa.test", true, 2, 200 * time.Second},
			{"both.test", true, 1, 200 * time.Second},
			{"neither.test", false, 2, time.Minute},
			{"mx.test", false, 2, time.Minute},
			{"nowhere.test", false, 1, time.Minute},
			{"to-a.test", true, 1, 200 * time.Second},
			{"to-aaaa.test", true, 2, 200 * time.Second},
			{"to-none.test", false, 1, time.Minute},
			{"to-text.test", false, 2, time.Minute},
			{"a..test", false, 0, time.Hour},
		} {
			for _, when := range []string{"not cached", "cached"} {
				has, err := hasAddress(r, t.Context(), testAccount, test.domain)
				require.NoError(t, err, "%s, %s, %s", test.domain, why, when)
				require.Equal(t, test.has, has, "%s, %s, %s", test.domain, why, when)
				require.Equal(t, test.queries, server.Asked(strings.TrimSuffix(test.domain, ".")), "%s, %s, %s", test.domain, why, when)
			}
			e, fresh := r.cache.get(subject{strings.TrimSuffix(strings.ToLower(test.domain), "."), addressRecords})
			if test.queries > 0 && why == "recursive" {
				require.True(t, fresh, test.domain)
				require.Equal(t, int64(test.ttl), e.freshUntil-clock.NowNano(), test.domain)
			}
		}
		_, err := hasAddress(r, t.Context(), testAccount, "loop.test")
		requireError(t, err, Failure, Loop)
		_, err = hasAddress(r, t.Context(), testAccount, "bücher.test")
		requireError(t, err, Failure, NotALabel)
	}
}

// NXDOMAIN is about AAAA too, whichever server sends it.
func TestHasAddressOfNoName(t *testing.T) {
	broken, server := mxtest.New(t, addressZone), mxtest.New(t, addressZone)
	broken.RespondAll(mxtest.ServFail)
	r := open(t, Config{}, broken.Addr, server.Addr)
	has, err := hasAddress(r, t.Context(), testAccount, "nowhere.test")
	require.NoError(t, err)
	require.False(t, has)
	require.Equal(t, 1, server.Asked("nowhere.test"))
}

// Results about addresses and about MX records are not taken for each other.
func TestHasAddressBesideLookup(t *testing.T) {
	server := mxtest.New(t, addressZone)
	r := open(t, Config{}, server.Addr)
	for range 2 {
		for domain, want := range map[string]struct{ mx, address bool }{"a.test": {false, true}, "mx.test": {true, false}, "neither.test": {}} {
			has, err := hasAddress(r, t.Context(), testAccount, domain)
			require.NoError(t, err)
			require.Equal(t, want.address, has, domain)
			requireMX(t, r, want.mx, domain)
		}
	}
	require.Equal(t, 6, r.Stats().Entries)
	require.Equal(t, 2, server.Asked("a.test"))
}

// What proves nothing is an error: for either type, and cached for as long as for MX.
func TestHasAddressErrors(t *testing.T) {
	for why, test := range map[string]struct {
		responder mxtest.Responder
		kind      Kind
		reason    Reason
		queries   int // 0: several
	}{
		"SERVFAIL":          {mxtest.ServFail, Failure, Rcode, 2},
		"SERVFAIL for AAAA": {onlyFor(dns.TypeAAAA, mxtest.ServFail), Failure, Rcode, 3},
		"SERVFAIL for A":    {onlyFor(dns.TypeA, mxtest.ServFail), Failure, Rcode, 2},
		"a referral":        {referral, Failure, Lame, 2},
		"garbage for AAAA":  {onlyFor(dns.TypeAAAA, mxtest.Garbage), Failure, Malformed, 3},
		"silence":           {mxtest.Silent, Timeout, NoReply, 0},
		"silence for AAAA":  {onlyFor(dns.TypeAAAA, mxtest.Silent), Timeout, NoReply, 0},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			server := mxtest.New(t, addressZone)
			server.RespondAll(test.responder)
			c := Config{}
			if test.kind == Timeout {
				c = shortTimeout
			}
			r, clock := openAt(t, c, server.Addr)
			_, err := hasAddress(r, t.Context(), testAccount, "aaaa.test")
			requireError(t, err, test.kind, test.reason)
			asked := server.Asked("aaaa.test")
			if test.queries > 0 {
				require.Equal(t, test.queries, asked)
			}
			_, err = hasAddress(r, t.Context(), testAccount, "aaaa.test")
			requireError(t, err, test.kind, test.reason)
			require.Equal(t, asked, server.Asked("aaaa.test"), "the failure is cached")

			server.RespondAll(mxtest.Answer)
			clock.advance(3 * time.Second)
			has, err := hasAddress(r, t.Context(), testAccount, "aaaa.test")
			require.NoError(t, err)
			require.True(t, has)

			server.RespondAll(test.responder) // an address stays while resolvers are down
			clock.advance(201 * time.Second)
			r.config.staleWait = time.Millisecond
			has, err = hasAddress(r, t.Context(), testAccount, "aaaa.test")
			require.NoError(t, err)
			require.True(t, has)
		})
	}
}

// Callers share a flight, which uses one slot of its account for both queries, and a
// second server is asked as for MX.
func TestHasAddressSharesFlights(t *testing.T) {
	silent, server := mxtest.New(t, addressZone), mxtest.New(t, addressZone)
	silent.RespondAll(mxtest.Silent)
	c := quick
	c.Concurrency = 1
	r := open(t, c, silent.Addr, server.Addr)
	together := make(chan struct{})
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		<-together
		mxtest.Answer(w, reply)
	})
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			has, err := hasAddress(r, t.Context(), testAccount, "aaaa.test")
			require.NoError(t, err)
			require.True(t, has)
		})
	}
	eventually(t, func() bool { return r.Stats().Shared+r.Stats().Misses == 20 })
	require.Equal(t, 1, r.Stats().InFlight)
	callers.Go(func() { requireMX(t, r, true, "mx.test") })
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	close(together)
	callers.Wait()
	require.EqualValues(t, 19, r.Stats().Shared)
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
}

// With Strict, a lying resolver makes no false about addresses either.
func TestHasAddressStrict(t *testing.T) {
	server := mxtest.New(t, addressZone)
	r, clock := openAt(t, Config{WithMX: []string{"mx.test"}, Strict: true}, server.Addr)
	_, err := hasAddress(r, t.Context(), testAccount, "neither.test")
	requireError(t, err, Failure, Unproven)
	has, err := hasAddress(r, t.Context(), testAccount, "a.test")
	require.NoError(t, err)
	require.True(t, has, "an address needs no proof")
	_, _ = r.Verify(t.Context())
	has, err = hasAddress(r, t.Context(), testAccount, "neither.test")
	require.NoError(t, err)
	require.False(t, has)

	server.RespondAll(deny)
	lies, _ := r.Verify(t.Context())
	require.Error(t, lies)
	_, err = hasAddress(r, t.Context(), testAccount, "neither.test")
	requireError(t, err, Failure, Lying)
	has, err = hasAddress(r, t.Context(), testAccount, "a.test")
	require.NoError(t, err)
	require.True(t, has)

	server.RespondAll(mxtest.Answer)
	_, _ = r.Verify(t.Context())
	clock.advance(3 * time.Second)
	has, err = hasAddress(r, t.Context(), testAccount, "neither.test")
	require.NoError(t, err)
	require.False(t, has)
}
