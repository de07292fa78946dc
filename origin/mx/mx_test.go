package mx

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
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
	if c.Timeout == 0 && c.hedge == 0 {
		c.Timeout, c.hedge = noHedge.Timeout, noHedge.hedge // a slow machine repeats no query
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
		{"an exchange with an underscore", "score.example.test", false},
		{"an exchange with a space", "space.example.test", false},
	} {
		mx, err := r.Lookup(context.Background(), testAccount, test.domain)
		require.NoError(t, err, test.why)
		require.Equal(t, test.mx, mx, test.why)
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
		mx, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err, why)
		require.False(t, mx, why)
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
	mx, err := r.Lookup(context.Background(), testAccount, name)
	require.NoError(t, err)
	require.True(t, mx)
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
	mx, err := r.Lookup(context.Background(), testAccount, "example.test")
	require.NoError(t, err, "cached results are still served")
	require.True(t, mx)
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
