package dashboard

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/limit"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// fill takes units for an owner until it gets no more, and returns how many it has.
func fill(l *limit.Limiter[string], owner string) int {
	ended, end := context.WithCancel(context.Background())
	end() // so that no take waits
	for l.Take(ended, owner, 1) == nil {
	}
	return l.Held(owner)
}

// A caller whose network has its share of places gets 429, and everybody else a page.
func TestCrowdedNetwork(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	b := s.browser(t)
	fill(s.Limits.Pages, "192.0.2.0/24")
	fill(s.Limits.Offline, "192.0.2.0/24")
	for from, want := range map[string]int{"192.0.2.7": http.StatusTooManyRequests, "192.0.3.7": http.StatusOK, "2001:db8::7": http.StatusOK} {
		for _, path := range []string{"/docs", "/link/x"} {
			r := b.request("GET", path, nil)
			r.Header.Set("X-Forwarded-For", from)
			got := b.do(r)
			if path == "/link/x" && want == http.StatusOK {
				want = http.StatusUnprocessableEntity // there is no such link
			}
			require.Equal(t, want, got.status, from+path)
			if want == http.StatusTooManyRequests {
				require.Equal(t, "1", got.header.Get("Retry-After"))
				require.Contains(t, got.body, "Many requests from your network")
			}
		}
	}
}

// Clients that request pages and read nothing keep nobody from a page, and what they have
// not read is bounded.
func TestUnreadPagesHoldNoSlot(t *testing.T) {
	s, b := ownSite(t)
	for range maxPages + 8 {
		c := origintest.Dial(t, strings.TrimPrefix(s.url, "http://"), hung)
		require.NoError(t, c.SetReadBuffer(4096))
		go c.Send(strings.Repeat("GET /docs/check-emails HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n", 2000))
	}
	require.Eventually(t, func() bool { return s.Limits.Unsent.Used() >= maxPages+8 }, hung, time.Millisecond)
	require.Zero(t, s.Limits.Offline.Used())
	for _, path := range []string{"/sign-in", "/docs", "/", "/dashboard", "/dashboard/usage.csv", "/docs/openapi.json", assetPath("style.css")} {
		require.Less(t, b.get(path).status, http.StatusBadRequest, path)
	}
	require.Equal(t, http.StatusNotFound, b.get("/no-such-page").status)
	fill(s.Limits.Unsent, "127.0.0.0/24")
	require.Equal(t, http.StatusTooManyRequests, b.get("/docs/check-emails").status)
	require.Equal(t, http.StatusOK, s.browser(t).get("/sign-in").status, "a small page")
}

// Pages that need no database are shown while it does not respond, also to somebody
// with a session, and while requests that wait for it have all their places.
func TestPagesWithoutDatabase(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		s := newSite(t, database, page.Config{SignUp: true})
		b := s.signedIn(t, s.account.ID)
		token := b.token("/dashboard")
		require.NoError(t, s.Ledger.Close())
		held := map[string]int{}
		for n := range 100 {
			held[strconv.Itoa(n)] = fill(s.Limits.Pages, strconv.Itoa(n))
		}
		require.Equal(t, maxPages, s.Limits.Pages.Used())
		pages := 0
		for path, route := range s.routes() {
			if route.Access != page.Offline {
				continue
			}
			pages++
			path = strings.NewReplacer("{$}", "", "{page}", "errors").Replace(path)
			got := b.get(path)
			require.Equal(t, http.StatusOK, got.status, path)
			require.Equal(t, path != "/llms.txt", strings.Contains(got.body, token), "its forms are the session's: %s", path)
		}
		require.Equal(t, 8, pages)
		require.Equal(t, http.StatusOK, b.get(assetPath("style.css")).status)
		require.Contains(t, b.get("/dashboard").body, "Many people use the dashboard")
		for owner, n := range held {
			s.Limits.Pages.Free(owner, n)
		}
		for _, path := range []string{"/dashboard", "/link/x"} {
			require.Equal(t, http.StatusServiceUnavailable, b.get(path).status, path)
		}
		require.Equal(t, http.StatusServiceUnavailable, b.submit("/sign-in", url.Values{"email": {"x@example.com"}, "password": {"x"}}).status)
	})
}

// A database that hangs delays them for a second.
func TestPagesWhileTheDatabaseHangs(t *testing.T) {
	s, b := ownSite(t)
	s.hangs.Store(true)
	require.Equal(t, http.StatusOK, b.get("/docs").status)
}

// A page for which the database fails at any step is 503, and never a part of a page.
func TestPagesNeedAllOfTheDatabase(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	require.NoError(t, s.Identity.SetOperator(t.Context(), s.account.ID, true))
	s.use(t, s.account.ID, s.key(t, s.account.ID, "shop"), s.today, 5)
	must(s.Ledger.SetPolicy(t.Context(), s.account.ID, "strict", "{}"))(t)
	b, queries := s.signedIn(t, s.account.ID), 0
	for path, r := range s.routes() {
		path = strings.NewReplacer("{id}", "1", "{name}", "strict").Replace(path)
		if r.Access <= page.Public || strings.Contains(path, "{") || path == "/dashboard/usage.csv" {
			continue
		}
		for failing := int64(1); ; failing++ {
			s.fails.Store(failing)
			got := b.getJSON(path, new(any))
			if s.fails.Swap(0) > 0 { // the page needs fewer queries
				require.NotEqual(t, http.StatusServiceUnavailable, got.status, path)
				break
			}
			queries++
			require.Equal(t, http.StatusServiceUnavailable, got.status, "%s: query %d: %s", path, failing, got.body)
			require.Contains(t, got.body, `"code":"UNAVAILABLE"`, path)
		}
	}
	require.Greater(t, queries, 50)
}
