package dashboard

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// testEngine is the module, compiled once for all tests.
var testEngine = sync.OnceValues(func() (*host.Engine, error) {
	return host.New(context.Background(), moduleForTests, host.Options{CacheDir: moduletest.CacheDir()})
})

var moduleForTests []byte

const testZone = `
	example.org.    300 IN SOA ns.example.org. hm.example.org. 1 2 3 4 60
	example.org.    300 IN MX 10 mail.example.org.
	hotmail.com.    300 IN MX 10 mail.hotmail.com.
	hotmial.com.    300 IN MX 10 mail.hotmial.com.
	mailinator.com. 300 IN MX 10 mail.mailinator.com.
	slow.test.      300 IN MX 10 mail.slow.test.
	burner.test.    300 IN MX 10 mail.mailinator.com.
	address.test.   300 IN A 192.0.2.1
`

// hung is how long a test waits for what must happen.
const hung = 2 * time.Minute

// silence is a resolver whose queries for silent.test time out, at once.
type silence struct{ api.Resolver }

func (s silence) Lookup(ctx context.Context, account int64, domain string) (mx.Result, error) {
	if domain == "silent.test" {
		return mx.Result{}, context.DeadlineExceeded
	}
	return s.Resolver.Lookup(ctx, account, domain)
}

// An apiSite is a site whose API is real: the module, the ledger and a DNS server.
// It listens as the service does, with the dashboard as the API's pages.
type apiSite struct {
	*site
	dns *mxtest.Server
	api *api.Server
}

func newAPISite(t *testing.T, database string, options ...ledger.Option) *apiSite {
	s := &apiSite{site: newSite(t, database, page.Config{}, options...), dns: mxtest.New(t, testZone)}
	resolver := must(mx.New(mx.Config{Servers: []string{s.dns.Addr}, Timeout: hung}))(t)
	t.Cleanup(resolver.Close)
	s.api = api.New(api.Config{Engine: s.Engine, Ledger: api.FromLedger(s.Ledger), Resolver: silence{resolver}, BatchTimeout: hung,
		Log: slog.New(slog.DiscardHandler), Metrics: api.NewMetrics(prometheus.NewRegistry())})
	s.api.Pages, s.Dashboard.API = s.Dashboard, s.api
	server := httptest.NewUnstartedServer(s.api)
	server.Config.WriteTimeout = hung // as in startSite
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func eachAPISite(t *testing.T, test func(*testing.T, *apiSite), options ...ledger.Option) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) { test(t, newAPISite(t, database, options...)) })
}

// accountOn creates an account on terms, and returns it with a browser signed in.
func (s *apiSite) accountOn(t *testing.T, email string, terms book.Terms) (int64, *browser) {
	a := must(s.Ledger.CreateAccount(t.Context(), email, terms))(t)
	return a.ID, s.signedIn(t, a.ID)
}

var noLimits = book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()}

func (s *apiSite) used(t *testing.T, account int64) int64 {
	a := must(s.Ledger.Account(t.Context(), account))(t)
	return a.Used
}

func (b *browser) check(token string, emails []string, header map[string]string) reply {
	return b.sendJSON(checkPath, token, map[string][]string{"emails": emails}, header)
}

type batchReply struct {
	Success bool
	Total   int
	Valid   int `json:"valid_count"`
	Points  int `json:"usage_points"`
	Error   json.RawMessage
	Code    string
	Detail  string
	Results []struct {
		Email, Status string
		Result        map[string]any
		Error         *struct{ Code string }
	}
}

func (b *browser) batch(got reply) (e batchReply) {
	require.NoError(b, json.Unmarshal([]byte(got.body), &e), got.body)
	return e
}

// A batch of the page Lists costs what it costs at the API, once, and comes back
// with the API's headers and bytes.
func TestListBatchIsTheAPIs(t *testing.T) {
	eachAPISite(t, func(t *testing.T, s *apiSite) {
		account, b := s.accountOn(t, "lists@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(100)})
		token := b.token("/dashboard/try")
		list := []string{"jane@example.org", "jane.@example.org", "info@hotmial.com", "jane@example.org"}
		got := expect(t, http.StatusOK, b.check(token, list, map[string]string{"Idempotency-Key": "first"}))
		e := b.batch(got)
		require.Equal(t, []int{3, 2, 3}, []int{e.Total, e.Valid, e.Points})
		require.Equal(t, "hotmail.com", e.Results[2].Result["typo_suggestion"])
		require.Equal(t, "3", got.header.Get("X-Usage-Current"))
		require.Equal(t, "100", got.header.Get("X-Usage-Limit"))
		require.NotEmpty(t, got.header.Get("RateLimit-Policy"))
		require.NotEmpty(t, got.header.Get("X-Request-Id"))
		require.Equal(t, int64(3), s.used(t, account))

		again := b.check(token, list, map[string]string{"Idempotency-Key": "first"})
		require.Equal(t, got.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.Equal(t, int64(3), s.used(t, account), "a replay is free")
		require.Equal(t, http.StatusUnprocessableEntity, b.check(token, list[:1], map[string]string{"Idempotency-Key": "first"}).status)

		many := make([]string, 98)
		for i := range many {
			many[i] = strings.Repeat("a", i%60+1) + string(rune('a'+i/60)) + "@example.org"
		}
		require.Equal(t, http.StatusBadRequest, b.check(token, many, nil).status, "over 64")
		require.Equal(t, http.StatusOK, b.check(token, many[:64], nil).status)
		expect(t, http.StatusPaymentRequired, b.check(token, many[40:], nil), `"required":58,"remaining":33`)
		require.Equal(t, int64(67), s.used(t, account))

		long := strings.Repeat("x", 900<<10) + "@example.org" // the body has the API's bound, not that of a form
		require.Equal(t, http.StatusOK, b.check(token, []string{long}, nil).status)
		expect(t, http.StatusRequestEntityTooLarge, b.check(token, []string{long, long[600<<10:]}, nil), "BODY_TOO_LARGE")
	})
}

// A batch is the account's that is signed in, whatever key and page a header names. Nobody can name an
// account without a session.
func TestBatchIsTheSessions(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	account, b := s.accountOn(t, "lists@example.com", noLimits)
	other, _ := s.accountOn(t, "other@example.com", noLimits)
	secret, _, err := s.Ledger.CreateKey(t.Context(), other, "shop", book.KeyTerms{Origins: []string{"https://shop.example"}})
	require.NoError(t, err)
	got := expect(t, http.StatusOK, b.check(b.token("/dashboard/try"), []string{"jane@example.org"},
		map[string]string{"X-API-Key": secret, "Authorization": "Bearer x", "Origin": s.url}))
	require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, []int64{1, 0}, []int64{s.used(t, account), s.used(t, other)})
	require.Equal(t, http.StatusUnauthorized, s.browser(t).get("/v1/usage").status)
}

func TestRateOfTheDashboardIsTheAccounts(t *testing.T) {
	now := time.Now()
	still := ledger.WithClock(func() time.Time { return now }) // however slow the test is, no token is added
	eachAPISite(t, func(t *testing.T, s *apiSite) {
		_, b := s.accountOn(t, "slow@example.com", book.Terms{Rate: ledgertest.Limit(1), Points: ledgertest.Unlimited()})
		token := b.token("/dashboard/try")
		refused := reply{}
		for range 5 {
			if refused = b.check(token, []string{"jane@example.org"}, nil); refused.status != http.StatusOK {
				break
			}
		}
		require.Equal(t, http.StatusTooManyRequests, refused.status)
		require.Equal(t, "1", refused.header.Get("Retry-After"))
		require.Contains(t, b.batch(refused).Detail, "Rate limit exceeded")
		expect(t, http.StatusTooManyRequests, b.submit("/dashboard/try", url.Values{"emails": {"jane@example.org"}}),
			"as many requests as it may at the moment. Try again in 1 second. Nothing was charged.")
	}, still)
}

// A suspended account checks nothing, and a sentence says why. The key of its checks is created once.
func TestSuspendedAccountChecksNothing(t *testing.T) {
	eachAPISite(t, func(t *testing.T, s *apiSite) {
		account, b := s.accountOn(t, "lists@example.com", noLimits)
		token := b.token("/dashboard/try")
		require.NoError(t, s.Ledger.SuspendAccount(t.Context(), account))
		expect(t, http.StatusForbidden, b.check(token, []string{"jane@example.org"}, nil), `"code":"SUSPENDED"`)
		expect(t, http.StatusForbidden, b.submit("/dashboard/try", url.Values{"emails": {"jane@example.org"}}),
			"The account is suspended, so this cannot be done.")
		require.NoError(t, s.Ledger.ResumeAccount(t.Context(), account))
		for range 2 {
			require.Equal(t, http.StatusOK, b.check(token, []string{"jane@example.org"}, nil).status)
		}
		keys := must(s.Ledger.ListKeys(t.Context(), account, book.KeyPage{Dashboard: true}))(t)
		require.Len(t, keys, 1)
		require.Equal(t, int64(2), s.used(t, account))
	})
}

// The check needs a session, the token of its page, and a browser that does not
// come from elsewhere.
func TestForgedChecks(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	account, b := s.accountOn(t, "lists@example.com", noLimits)
	_, other := s.accountOn(t, "other@example.com", noLimits)
	list := []string{"jane@example.org"}
	require.Equal(t, http.StatusUnauthorized, s.browser(t).check("", list, nil).status)
	for _, token := range []string{"", other.token("/dashboard/try"), s.browser(t).token("/sign-in")} {
		require.Equal(t, http.StatusForbidden, b.check(token, list, nil).status)
	}
	token := b.token("/dashboard/try")
	require.Equal(t, http.StatusForbidden, b.check(token, list, map[string]string{"Sec-Fetch-Site": "cross-site"}).status)
	require.Equal(t, http.StatusForbidden, b.check(token, list, map[string]string{"Origin": "https://evil.example"}).status)
	require.Equal(t, http.StatusMethodNotAllowed, b.get(checkPath).status)
	require.Zero(t, s.used(t, account))
	require.Equal(t, http.StatusOK, b.check(token, list, nil).status)
	require.NoError(t, s.Identity.EndSessions(t.Context(), account, 0))
	require.Equal(t, http.StatusUnauthorized, b.check(token, list, nil).status, "a session that has ended")
}

// While DNS is silent, checks wait in places of their own: pages are served, other
// accounts check, and the account that waits gets at most 8.
func TestChecksDoNotBlockPages(t *testing.T) {
	s := newAPISite(t, "sqlite:"+t.TempDir()+"/a.db")
	_, b := s.accountOn(t, "lists@example.com", noLimits)
	_, other := s.accountOn(t, "other@example.com", noLimits)
	token, otherToken := b.token("/dashboard/try"), other.token("/dashboard/try")
	release := make(chan struct{})
	s.dns.Respond("slow.test", func(w dns.ResponseWriter, reply *dns.Msg) {
		<-release
		mxtest.Answer(w, reply)
	})
	statuses := make(chan int, 24) // fewer than the places of pages, where all begin
	for range cap(statuses) {
		go func() { statuses <- b.check(token, []string{"jane@slow.test"}, nil).status }()
	}
	require.Eventually(t, func() bool { return len(statuses) == cap(statuses)-maxLongEach }, hung, 5*time.Millisecond)
	require.Equal(t, http.StatusOK, b.get("/dashboard").status)
	require.Zero(t, s.Limits.Pages.Used(), "the places of pages are free")
	require.Equal(t, http.StatusOK, other.check(otherToken, []string{"jane@example.org"}, nil).status)
	expect(t, http.StatusTooManyRequests, b.submit("/dashboard/try", url.Values{"emails": {"jane@example.org"}}))
	require.Len(t, statuses, cap(statuses)-maxLongEach, "the others still wait")
	close(release)
	count := map[int]int{}
	for range cap(statuses) {
		count[<-statuses]++
	}
	require.Equal(t, map[int]int{http.StatusTooManyRequests: cap(statuses) - maxLongEach, http.StatusOK: maxLongEach}, count)
	require.Eventually(t, func() bool { return s.Limits.Long.Used() == 0 }, hung, time.Millisecond)
}
