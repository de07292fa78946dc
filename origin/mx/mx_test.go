package mx

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/host"
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
local.example.test.  300 IN MX    10 localhost.
text.example.test.   300 IN TXT   "mail goes elsewhere"
deep.under.example.test. 300 IN A 192.0.2.1
alias.example.test.  300 IN CNAME other.example.test.
other.example.test.  300 IN CNAME example.test.
lost.example.test.   300 IN CNAME nowhere.example.test.
bare.example.test.   300 IN CNAME mail.example.test.
xn--bcher-kva.test.  300 IN MX    10 mail.example.test.
*.any.example.test.  300 IN MX    10 mail.example.test.
`

// testAccount is the account of tests that are not about accounts.
const testAccount = 1

// patient has an interval that no test reaches: a slow machine repeats no query.
var patient = Config{Timeout: 2 * time.Minute, interval: time.Hour}

// open returns a Resolver that uses servers, and closes it when the test ends.
func open(t testing.TB, c Config, servers ...string) *Resolver {
	t.Helper()
	if c.Timeout == 0 && c.interval == 0 {
		c.Timeout, c.interval = patient.Timeout, patient.interval
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

// down returns the address of a server that is down. No client gets its port.
func down(t testing.TB) string {
	t.Helper()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	return address
}

func requireMX(t testing.TB, r *Resolver, mx bool, domain string) {
	t.Helper()
	found, err := r.Lookup(t.Context(), testAccount, domain)
	require.NoError(t, err, domain)
	require.Equal(t, mx, found.MX, domain)
}

func requireFailure(t testing.TB, r *Resolver, kind Kind, reason Reason, domain string) {
	t.Helper()
	found, err := r.Lookup(t.Context(), testAccount, domain)
	requireError(t, err, kind, reason)
	require.Zero(t, found, domain)
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
		some.test.      300 IN MX 0 .
		some.test.      300 IN MX 1 localhost.
		some.test.      300 IN MX 2 mx.invalid.
		some.test.      300 IN MX 3 192.0.2.1.
		some.test.      300 IN MX 4 mail_1.test.
		some.test.      300 IN MX 5 a\.b.test.
		some.test.      300 IN MX 6 mail.test.
		renamed.test.   300 IN MX 10 pseudonym.test.
		pseudonym.test. 300 IN CNAME mail.example.test.
		`+longName+`. 300 IN MX 10 `+longName+`.
	`)
	r := open(t, Config{}, server.Addr)
	one := Result{MX: true, Exchanges: "mail.example.test"}
	for _, test := range []struct {
		why, domain string
		want        Result
	}{
		{"one record", "example.test", one},
		{"any case", "ExAmPlE.tEsT", one},
		{"a final dot", "example.test.", one},
		{"an A-label", "xn--bcher-kva.test", one},
		{"from a wildcard", "whatever.any.example.test", one},
		{"CNAMEs to a domain with MX", "alias.example.test", one},
		{"null MX beside another, against RFC 7505", "mixed.example.test", one},
		{"several records", "two.example.test", Result{MX: true, Exchanges: "mail.example.test mail.elsewhere.test"}},
		{"upper case", "case.test", Result{MX: true, Exchanges: "mail.case.test"}},
		{"by preference, then by name", "order.test", Result{MX: true, Exchanges: "z.test b.test y.test a.test"}},
		{"a name twice counts with its lowest preference", "twice.test", Result{MX: true, Exchanges: "a.test b.test"}},
		{"some that are no exchange", "some.test", Result{MX: true, Exchanges: "mail_1.test mail.test"}},
		{"the exchange is a CNAME", "renamed.test", Result{MX: true, Exchanges: "pseudonym.test"}},
		{"the domain itself, the longest name", longName, Result{MX: true, Exchanges: longName}},
		{"null MX", "null.example.test", Result{}},
		{"none that is an exchange", "local.example.test", Result{}},
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
	requireFailure(t, r, Failure, NotALabel, "bücher.test")
	require.Zero(t, server.Asked("pseudonym.test"), "an exchange is not looked up")
	udp, tcp := server.Queries()
	require.Equal(t, []int{20, 0}, []int{udp, tcp}, "one for each name that can be")
}

// As many records as fit into a message over TCP: of some exchanges each again and again,
// or each of another. The list is cut at the end of a name.
func TestExchangesAreBounded(t *testing.T) {
	for _, test := range []struct{ records, exchanges int }{{3900, 90}, {3200, 3200}} {
		var list []dns.RR
		for i := range test.records {
			n := i % test.exchanges
			list = append(list, &dns.MX{Preference: uint16(n / 10), Mx: fmt.Sprintf("%03x.many-exchanges.test.", n)})
		}
		exchanges := exchangesOf(list)
		require.LessOrEqual(t, len(exchanges), maxExchanges)
		require.Greater(t, len(exchanges), maxExchanges-len(" 000.many-exchanges.test"))
		names := strings.Split(exchanges, " ")
		require.Equal(t, "*", names[len(names)-1])
		for i, name := range names[:len(names)-1] {
			require.Equal(t, fmt.Sprintf("%03x.many-exchanges.test", i), name)
		}
	}
	for _, test := range []struct {
		why   string
		sizes []int // of the names
		cut   int   // names that stay before "*"; 0: all
	}{
		{"at the limit", []int{253, 253, 253, 253, 8}, 0},
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
		if test.cut > 0 {
			names = append(names[:test.cut], "*")
		}
		require.Equal(t, strings.Join(names, " "), exchangesOf(list), test.why)
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
	mx.test.        200 IN A     192.0.2.1
	only-mx.test.   200 IN MX    10 a.test.
	null.test.      200 IN MX    0 .
	null.test.      200 IN A     192.0.2.1
	to-a.test.      200 IN CNAME a.test.
	to-aaaa.test.   200 IN CNAME aaaa.test.
	to-text.test.   200 IN CNAME neither.test.
`

// LookupAddress by the queries that it takes: those of a Lookup, and A and AAAA if there is a
// fallback, AAAA only without A. PeekAddress is known once LookupAddress is.
func TestLookupAddress(t *testing.T) {
	server := mxtest.New(t, addressZone)
	r := open(t, Config{}, server.Addr)
	none, found := Result{Fallback: true, Address: host.AddressAbsent}, Result{Fallback: true, Address: host.AddressPresent}
	for domain, test := range map[string]struct {
		want    Result
		queries int
	}{
		"mx.test": {Result{MX: true, Exchanges: "a.test"}, 1}, "null.test": {Result{}, 1}, "absent.test": {Result{}, 1},
		"a.test": {found, 2}, "both.test": {found, 2}, "aaaa.test": {found, 3}, "neither.test": {none, 3},
		"to-a.test": {found, 2}, "to-aaaa.test": {found, 3}, "to-text.test": {none, 3}, "a..test": {Result{}, 0},
	} {
		_, known, err := r.PeekAddress(domain)
		require.NoError(t, err)
		require.Equal(t, test.queries == 0, known, "%s, before any lookup", domain)
		without, err := r.Lookup(t.Context(), testAccount, domain)
		require.NoError(t, err)
		_, known, err = r.PeekAddress(domain)
		require.NoError(t, err)
		require.Equal(t, !without.Fallback, known, "%s, without its address", domain)
		for range 2 {
			got, err := r.LookupAddress(t.Context(), testAccount, domain)
			require.NoError(t, err)
			require.Equal(t, test.want, got, domain)
		}
		got, known, err := r.PeekAddress(domain)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, test.want, got, domain)
		require.Equal(t, test.queries, server.Asked(domain), domain)
	}
	_, err := r.LookupAddress(t.Context(), testAccount, "bücher.test")
	requireError(t, err, Failure, NotALabel)
}

// A failed lookup of the address record hides no MX that is known to be none: neither an error
// for either type, nor silence for as long as both lookups may take, nor a caller who leaves.
func TestLookupAddressFails(t *testing.T) {
	server := mxtest.New(t, addressZone)
	server.Respond("aaaa.test", onlyFor(dns.TypeAAAA, mxtest.ServFail))
	server.Respond("a.test", onlyFor(dns.TypeA, mxtest.Garbage))
	server.Respond("neither.test", onlyFor(dns.TypeA, mxtest.Silent))
	c := shortTimeout
	c.FailureTTL = time.Hour
	r := open(t, c, server.Addr)
	for _, domain := range []string{"aaaa.test", "a.test", "neither.test"} {
		found, err := r.LookupAddress(t.Context(), testAccount, domain)
		require.NoError(t, err, domain)
		require.Equal(t, Result{Fallback: true, Address: host.AddressUnknown}, found, domain)
		found, known, err := r.PeekAddress(domain)
		require.True(t, known, domain)
		require.NoError(t, err, domain)
		require.Equal(t, Result{Fallback: true, Address: host.AddressUnknown}, found, domain)
	}
	requireMX(t, r, false, "to-text.test")
	left, leave := context.WithCancel(t.Context())
	leave()
	found, err := r.LookupAddress(left, testAccount, "to-text.test")
	require.NoError(t, err)
	require.Equal(t, Result{Fallback: true, Address: host.AddressUnknown}, found)
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

func requireAddress(t testing.TB, r *Resolver, has bool, domain string) {
	t.Helper()
	e, err := r.lookup(t.Context(), testAccount, subject{domain, addressRecords})
	require.NoError(t, err)
	require.Equal(t, has, e.found, domain)
}

// Results about addresses and about MX records are not taken for each other. NXDOMAIN is about
// A and AAAA, and the TTL is that of the records, or the least of no A and no AAAA.
func TestAddressesBesideMX(t *testing.T) {
	server := mxtest.New(t, addressZone)
	r, clock := openAt(t, Config{}, server.Addr)
	for range 2 {
		for domain, test := range map[string]struct {
			mx, address bool
			queries     int
			ttl         time.Duration
		}{
			"a.test":       {false, true, 2, 200 * time.Second},
			"aaaa.test":    {false, true, 3, 200 * time.Second},
			"only-mx.test": {true, false, 3, time.Minute},
			"nowhere.test": {false, false, 2, time.Minute},
		} {
			requireAddress(t, r, test.address, domain)
			requireMX(t, r, test.mx, domain)
			require.Equal(t, test.queries, server.Asked(domain), domain)
			e, _ := r.cache.get(subject{domain, addressRecords})
			require.Equal(t, int64(test.ttl), e.freshUntil-clock.NowNano(), domain)
		}
	}
	require.Equal(t, 8, r.Stats().Entries)
}
