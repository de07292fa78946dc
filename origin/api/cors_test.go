package api

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

const shop = "https://shop.example"

// fromShop makes the ledger allow a page of the shop to read the responses.
func (f *fakes) fromShop() {
	f.ledger.begin, f.ledger.claim, f.ledger.charge = decided(ledger.Good), decided(ledger.Good), decided(ledger.Good)
	f.ledger.begin.AllowOrigin = shop
}

// Whatever ends a request after Begin, a page of the key's origin may read the response.
func TestPageMayReadEveryResponse(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		change func(*fakes)
	}{
		"good":              {200, func(*fakes) {}},
		"revoked":           {401, func(f *fakes) { f.ledger.begin.Kind, f.ledger.begin.Usage = ledger.UnknownKey, nil }},
		"revoked meanwhile": {401, func(f *fakes) { f.ledger.charge = outcomeOf{Decision: ledger.Decision{Kind: ledger.UnknownKey}} }},
		"rate":              {429, func(f *fakes) { f.ledger.begin.Kind = ledger.RateLimited }},
		"points":            {402, func(f *fakes) { f.ledger.claim = decided(ledger.Insufficient) }},
		"panic":             {500, func(f *fakes) { f.ledger.panicAt = "claim" }},
		"undecided":         {503, func(f *fakes) { f.ledger.charge = outcomeOf{err: ledger.ErrUndecided} }},
		"lookup": {500, func(f *fakes) {
			f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { panic("x") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			f.fromShop()
			c.change(f)
			resp := f.send(f.ask(http.MethodPost, "/v1/emails", twoAddresses, "Origin", shop))
			require.Equal(t, c.status, resp.Code, resp.Body)
			require.Equal(t, shop, f.ledger.origin)
			require.Equal(t, []string{shop}, resp.Header().Values("Access-Control-Allow-Origin"))
			require.Equal(t, []string{"Origin"}, resp.Header().Values("Vary"))
			require.Empty(t, resp.Header().Values("Access-Control-Allow-Credentials"))
		})
	}
}

// Responses without a key allow no origin, and neither do pages without one.
func TestNoOriginIsAllowedWithoutTheLedger(t *testing.T) {
	f := newFakes(t)
	f.fromShop()
	for _, r := range []*http.Request{
		f.ask(http.MethodGet, "/v1/usage", "", "Origin", shop, "X-API-Key", "nonsense"),
		f.ask(http.MethodGet, "/v1/nothing", "", "Origin", shop),
		f.ask(http.MethodGet, "/healthz", "", "Origin", shop),
		f.ask(http.MethodPost, edgePath, "{}", "Origin", shop, headerEdgeSecret, "wrong"),
	} {
		require.Empty(t, f.send(r).Header().Values("Access-Control-Allow-Origin"), r.URL.Path)
	}
}
