package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// askForPages opens connections that request a page again and again and read
// nothing. It returns when the server is blocked by as many of them as want.
func (s *site) askForPages(t *testing.T, path string, connections, want int) (list []*origintest.TestConn) {
	for range connections {
		c := origintest.Dial(t, strings.TrimPrefix(s.url, "http://"), hung)
		require.NoError(t, c.SetReadBuffer(4096))
		go c.Send(strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n", 2000))
		list = append(list, c)
	}
	require.Eventually(t, func() bool { return s.unsent.count() >= want }, hung, time.Millisecond)
	return list
}

// count returns how many pages are being sent.
func (u *unsent) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pages.Len()
}

// Clients that request pages and read nothing keep nobody from a page.
func TestUnreadPagesHoldNoSlot(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.signedIn(t, s.account.ID)
	s.askForPages(t, "/docs/check-emails", maxRequests+8, maxRequests+8)
	require.Empty(t, s.reading)
	for _, path := range []string{"/sign-in", "/docs", "/", "/dashboard", "/dashboard/usage.csv", "/docs/openapi.json", assetPath("style.css")} {
		require.Less(t, b.get(path).status, http.StatusBadRequest, path)
	}
	require.NotEqual(t, http.StatusServiceUnavailable, b.get("/no-such-page").status)
}

// Pages that nobody reads take bounded memory: the clients that have not read
// theirs for longest are cut off.
func TestUnreadPagesAreBounded(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	s.unsent.limit = 1 << 20
	first := s.askForPages(t, "/docs/check-emails", 1, 1)[0]
	s.askForPages(t, "/docs/check-emails", 40, 1)
	for n := 0; !first.IsClosed(); n++ { // it reads what was sent to it before
		if n%4096 == 0 {
			require.LessOrEqual(t, s.unsent.size(), s.unsent.limit)
		}
	}
}

func (u *unsent) size() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes
}

// Pages that need no database are shown while it does not respond, also to somebody
// with a session, and while requests that wait for it have all their slots.
func TestPagesWithoutDatabase(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		s := newSite(t, database, Config{SignUp: true})
		b := s.signedIn(t, s.account.ID)
		token := b.token("/dashboard")
		require.NoError(t, s.Ledger.Close())
		for range maxRequests {
			s.requests <- struct{}{}
		}
		pages := 0
		for path, route := range s.routes() {
			if route.access != offline {
				continue
			}
			pages++
			path = strings.NewReplacer("{$}", "", "{page}", "errors").Replace(path)
			got := b.get(path)
			require.Equal(t, http.StatusOK, got.status, path)
			require.Contains(t, got.body, token, "its forms are the session's: %s", path)
		}
		require.Equal(t, 7, pages)
		require.Equal(t, http.StatusOK, b.get(assetPath("style.css")).status)
		for range maxRequests {
			<-s.requests
		}
		for _, path := range []string{"/dashboard", "/link/x"} {
			require.Equal(t, http.StatusServiceUnavailable, b.get(path).status, path)
		}
		require.Equal(t, http.StatusServiceUnavailable, b.submit("/sign-in", url.Values{"email": {"x@example.com"}, "password": {"x"}}).status)
	})
}

// A database that hangs delays them for a second.
func TestPagesWhileTheDatabaseHangs(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.signedIn(t, s.account.ID)
	s.hangs.Store(true)
	require.Equal(t, http.StatusOK, b.get("/docs").status)
}
