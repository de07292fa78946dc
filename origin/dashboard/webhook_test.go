package dashboard

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/webhook"
)

func TestWebhookPage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		const path = "/dashboard/settings/webhook"
		b := s.signedIn(t, s.account.ID)
		require.Contains(t, b.get(path).body, "Set a URL")
		expect(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"do": {"set"}, "url": {"https://127.0.0.1/"}}),
			"The webhook&#39;s URL is not accepted")
		for _, do := range []string{"test", "rotate", "remove", "explode"} {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit(path, url.Values{"do": {do}}).status, "there is none: %s", do)
		}
		b.shown(b.submit(path, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/a?<b>"}}))
		var view account.WebhookView
		b.postJSON(path, map[string]string{"do": "rotate"}, &view)
		require.Contains(t, view.Secret, "whsec_")
		s.signedIn(t, s.createAccount(t, "other@example.com").ID).getJSON(path, &view)
		require.Empty(t, view.URL, "another account's")
		require.Equal(t, path+"?done=webhook-removed", b.submit(path, url.Values{"do": {"remove"}}).header.Get("Location"))
	})
}

// An owner whose receiver does not respond to a test keeps nobody from a page, and has one test at a time.
func TestHangingReceiversBlockNoPage(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	hang, release := context.WithCancel(t.Context())
	asked, status := make(chan struct{}), make(chan int)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-hang.Done()
	}))
	defer receiver.Close()
	defer release()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	s.Dashboard.Webhooks = webhook.New(s.Ledger.Store(), webhook.Options{Timeout: hung,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Local: &webhook.Local{Roots: roots}})
	must(s.Dashboard.Webhooks.Set(t.Context(), s.account.ID, receiver.URL))(t)
	const path = "/dashboard/settings/webhook"
	b := s.signedIn(t, s.account.ID)
	go func() { status <- b.submit(path, url.Values{"do": {"test"}}).status }()
	<-asked
	require.Zero(t, s.Limits.Pages.Used())
	require.Equal(t, http.StatusOK, b.get(path).status)
	expect(t, http.StatusTooManyRequests, b.submit(path, url.Values{"do": {"test"}}),
		"Several requests of this account")
	release()
	require.Equal(t, http.StatusSeeOther, <-status)
	require.Eventually(t, func() bool { return s.Limits.Long.Used() == 0 }, hung, time.Millisecond)
}
