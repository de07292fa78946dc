package dashboard

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
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
		got := b.submit(path, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/a?<b>"}})
		require.Equal(t, http.StatusOK, got.status)
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
