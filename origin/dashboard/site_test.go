package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// A site is a dashboard that listens, with an account on its database.
type site struct {
	*Dashboard
	url      string
	account  book.Account
	today    book.Day
	database string
	work     storetest.Counter // of the database
	hangs    atomic.Bool       // the database, when it is asked for a session
	fails    atomic.Int64      // if it is positive, how many queries remain until one fails
}

// A hangingStore does not respond to queries of sessions while hangs is set.
type hangingStore struct {
	store.Store
	hangs *atomic.Bool
	fails *atomic.Int64
}

type requestKey struct{} // of the contexts of requests

// failsNow counts what requests ask for, and not what the ledger asks for by itself.
func (s hangingStore) failsNow(ctx context.Context) bool {
	return ctx.Value(requestKey{}) != nil && s.fails.Add(-1) == 0
}

func (s hangingStore) Now(ctx context.Context) (time.Time, error) {
	if s.failsNow(ctx) {
		return time.Time{}, store.ErrUnavailable
	}
	return s.Store.Now(ctx)
}

func (s hangingStore) Query(ctx context.Context, st store.Statement) error {
	if s.failsNow(ctx) {
		return store.ErrUnavailable
	}
	if st.Name == "read_session" && s.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Query(ctx, st)
}

func eachDatabase(t *testing.T, test func(*testing.T, *site)) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) { test(t, newSite(t, database, page.Config{})) })
}

func ownSite(t *testing.T) (*site, *browser) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	return s, s.signedIn(t, s.account.ID)
}

func eachOwner(t *testing.T, test func(*testing.T, *site, *browser)) {
	eachDatabase(t, func(t *testing.T, s *site) { test(t, s, s.signedIn(t, s.account.ID)) })
}

// newSite starts a dashboard with configuration c, whose empty fields it fills.
func newSite(t *testing.T, database string, c page.Config, options ...ledger.Option) *site {
	s := startSite(t, database, c, options...)
	s.account = s.createAccount(t, "owner@example.com")
	now := must(s.Ledger.Now(t.Context()))(t)
	s.today = book.DayOf(now)
	return s
}

func startSite(t *testing.T, database string, c page.Config, options ...ledger.Option) *site {
	s := &site{database: database}
	l, err := ledger.Open(t.Context(), database, append(options, ledger.WithStore(func(database store.Store) store.Store {
		return s.work.Wrap(hangingStore{database, &s.hangs, &s.fails})
	}))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	server := httptest.NewUnstartedServer(nil)
	server.Config.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), requestKey{}, true)
	}
	s.url = "http://" + server.Listener.Addr().String()
	c.Ledger, c.Identity, c.Log = l, identity.New(l), slog.New(slog.DiscardHandler)
	if c.PublicURL == nil {
		c.PublicURL, _ = url.Parse(s.url)
	}
	moduleForTests = moduletest.Bytes(t)
	c.Engine, err = testEngine()
	require.NoError(t, err)
	c.Webhooks = webhook.New(l.Store(), webhook.Options{})
	c.Health = func(context.Context) []page.Health {
		return []page.Health{{Part: "database", OK: true, Detail: "responds"}}
	}
	c.Refused = func() map[int]int64 { return map[int]int64{429: 1, 401: 1200, 499: 3, 409: 2} }
	s.Dashboard, err = New(c)
	require.NoError(t, err)
	server.Config.Handler, server.Config.WriteTimeout = s.Dashboard, hung // as in the service, a request ends the deadline of the one before
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// transact runs a statement of the ledger's store.
func (s *site) transact(t *testing.T, name string, args ...any) {
	require.NoError(t, s.Ledger.Store().Transact(t.Context(), store.Transaction{
		Decide: func(time.Time) ([]store.Statement, error) { return []store.Statement{{Name: name, Args: args}}, nil }}))
}

func (s *site) createAccount(t *testing.T, email string) book.Account {
	a := must(s.Ledger.CreateAccount(t.Context(), email, book.Terms{Plan: "pro"}))(t)
	return a
}

func (s *site) key(t *testing.T, account int64, name string) int64 {
	_, k, err := s.Ledger.CreateKey(t.Context(), account, name, book.KeyTerms{})
	require.NoError(t, err)
	return k.ID
}

// A browser keeps cookies and follows no redirect.
type browser struct {
	*testing.T
	site   *site
	client *http.Client
}

func (s *site) browser(t *testing.T) *browser {
	jar := must(cookiejar.New(nil))(t)
	return &browser{t, s, &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (s *site) signedIn(t *testing.T, account int64) *browser {
	token := must(s.Identity.CreateLink(t.Context(), account))(t)
	b := s.browser(t)
	expect(t, http.StatusSeeOther, b.submit("/link/"+token, url.Values{}))
	return b
}

type reply struct {
	status int
	header http.Header
	body   string
}

func expect(t *testing.T, status int, got reply, texts ...string) reply {
	require.Equal(t, status, got.status, got.body)
	for _, text := range texts {
		require.Contains(t, got.body, text)
	}
	return got
}

func (b *browser) do(r *http.Request) reply {
	resp := must(b.client.Do(r))(b)
	defer resp.Body.Close()
	body := must(io.ReadAll(resp.Body))(b)
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func (b *browser) request(method, path string, body io.Reader) *http.Request {
	r := must(http.NewRequestWithContext(b.Context(), method, b.site.url+path, body))(b)
	r.Header.Set("Accept", "text/html")
	return r
}

func (b *browser) get(path string) reply { return b.do(b.request("GET", path, nil)) }

var formToken = regexp.MustCompile(`name="form-token" content="([^"]*)"`)

func (b *browser) token(path string) string {
	page := b.get(path)
	found := formToken.FindStringSubmatch(page.body)
	require.NotNil(b, found, "%s: %d %s", path, page.status, page.body)
	return found[1]
}

// submit sends a form with the token of its page.
func (b *browser) submit(path string, form url.Values) reply { return b.submitFrom(path, form, "") }

func (b *browser) shown(got reply) reply {
	require.Equal(b, http.StatusSeeOther, got.status, got.body)
	got = b.get(got.header.Get("Location"))
	require.Equal(b, http.StatusOK, got.status, got.body)
	return got
}

// submitFrom submits a form through a proxy that names an address.
func (b *browser) submitFrom(path string, form url.Values, address string) reply {
	return b.forge(path, b.token(path), form, "X-Forwarded-For", address)
}

// forge sends a form with a token and a header, without its page.
func (b *browser) forge(path, token string, form url.Values, header, value string) reply {
	form.Set(tokenField, token)
	r := b.request("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if value != "" {
		r.Header.Set(header, value)
	}
	return b.do(r)
}

func (b *browser) cookieNamed(name string) string {
	at := must(url.Parse(b.site.url))(b)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// setCookie makes the browser use a session's token, as who has stolen it does.
func (b *browser) setCookie(token string) {
	at := must(url.Parse(b.site.url))(b)
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: sessionCookie, Value: token, Path: "/"}})
}

// age makes the session's last proof of who it is too old for changes.
func (b *browser) age() {
	session := must(b.site.Identity.Session(b.Context(), b.cookieNamed(sessionCookie)))(b)
	b.site.transact(b.T, "confirm_session", session.ID, time.Now().Add(-identity.ConfirmFor).UnixNano())
}

func read[T any](b *browser, path string) (data T) {
	expect(b.T, http.StatusOK, b.getJSON(path, &data))
	return data
}

func (b *browser) getJSON(path string, data any) reply {
	r := b.request("GET", path, nil)
	r.Header.Set("Accept", "application/json")
	got := b.do(r)
	require.Equal(b, "application/json", got.header.Get("Content-Type"))
	require.NoError(b, json.Unmarshal([]byte(got.body), data), got.body)
	return got
}

func (b *browser) postJSON(path string, fields, data any) reply {
	return b.postFrom(path, path, fields, data)
}

// postFrom does the same with the token of another page.
func (b *browser) postFrom(page, path string, fields, data any) reply {
	got := b.sendJSON(path, b.getJSON(page, new(any)).header.Get(tokenHeader), fields, nil)
	require.NoError(b, json.Unmarshal([]byte(got.body), data), got.body)
	return got
}

func (b *browser) sendJSON(path, token string, fields any, header map[string]string) reply {
	body := must(json.Marshal(fields))(b)
	r := b.request("POST", path, bytes.NewReader(body))
	for name, value := range map[string]string{"Accept": "application/json", "Content-Type": "application/json", tokenHeader: token} {
		r.Header.Set(name, value)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return b.do(r)
}

// What the pages and the handbook promise, as the tests expect it.
const (
	accountsPath  = "/dashboard/operator/accounts"
	auditLines    = 50
	checkPath     = "/dashboard/lists/check"
	deviceCookie  = "addrspec-device"
	keysOnPage    = 50
	maxBatch      = 64
	maxDocument   = 1 << 20
	maxForm       = 64 << 10
	maxLongEach   = 8
	maxPages      = 64
	onceCookie    = "addrspec-once-"
	operatorPath  = "/dashboard/operator"
	policiesPath  = "/dashboard/policies"
	provedPath    = "/dashboard/settings/proved"
	recoveryPath  = "/dashboard/settings/recovery-codes"
	sessionCookie = "addrspec"
	tokenField    = "form_token"
	tokenHeader   = "X-Form-Token"
	usagePageRows = 50
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		require.NoError(t, err)
		return v
	}
}
