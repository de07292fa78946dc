package dashboard

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/webhook"
)

func TestWebhookPage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		const path = "/dashboard/settings/webhook"
		b := s.signedIn(t, s.account.ID)
		require.Contains(t, b.get(path).body, "Set a URL")
		for _, bad := range []string{"", "http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/", "https://user@hooks.example.com/"} {
			got := b.submit(path, url.Values{"do": {"set"}, "url": {bad}})
			require.Equal(t, http.StatusUnprocessableEntity, got.status, bad)
			require.Contains(t, got.body, "The webhook&#39;s URL is not accepted", bad)
		}
		for _, do := range []string{"test", "rotate", "remove", "explode"} {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"do": {do}}).status, "there is none: %s", do)
		}
		got := b.shown(b.submit(path, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/a?<b>"}}))
		require.Contains(t, got.body, "whsec_")
		require.NotContains(t, b.get(path).body, "whsec_", "shown only once")

		var view webhookView
		b.postJSON(path, map[string]string{"do": "rotate"}, &view)
		require.Contains(t, view.Secret, "whsec_")
		s.signedIn(t, s.createAccount(t, "other@example.com").ID).getJSON(path, &view)
		require.Empty(t, view.URL, "another account's")
		require.Equal(t, path+"?done=webhook-removed", b.submit(path, url.Values{"do": {"remove"}}).header.Get("Location"))
	})
}

// Owners whose receivers do not respond to tests keep nobody from a page.
func TestHangingReceiversBlockNoPage(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	hang, release := context.WithCancel(t.Context())
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang.Done() }))
	defer receiver.Close()
	defer release()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	s.Dashboard.Webhooks = webhook.New(s.Ledger.Store(), webhook.Options{Timeout: hung,
		Local: &webhook.Local{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}})
	statuses := make(chan int, maxRequests+8)
	for n := range cap(statuses) {
		account := s.createAccount(t, fmt.Sprintf("owner%d@example.com", n)).ID
		_, err := s.Dashboard.Webhooks.Set(t.Context(), account, receiver.URL)
		require.NoError(t, err)
		_, err = s.Identity.CreateLink(t.Context(), account)
		require.NoError(t, err)
		user, err := s.Identity.User(t.Context(), account)
		require.NoError(t, err)
		token, err := s.Identity.SignIn(t.Context(), user, "", "a test", true) // uses of links are limited
		require.NoError(t, err)
		b := s.browser(t)
		b.setCookie(token)
		go func() { statuses <- b.submit("/dashboard/settings/webhook", url.Values{"do": {"test"}}).status }()
	}
	require.Eventually(t, func() bool { return len(statuses) == cap(statuses)-maxTests }, hung, time.Millisecond)
	require.Empty(t, s.requests)
	b := s.signedIn(t, s.account.ID)
	require.Equal(t, http.StatusOK, b.get("/dashboard/settings/webhook").status)
	require.Equal(t, http.StatusUnprocessableEntity, b.submit("/dashboard/settings/webhook", url.Values{"do": {"remove"}}).status)
	release()
	count := map[int]int{}
	for range cap(statuses) {
		count[<-statuses]++
	}
	require.Equal(t, cap(statuses)-maxTests, count[http.StatusServiceUnavailable])
	require.Empty(t, s.tests.owners)
}
