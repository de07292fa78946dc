package dashboard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/openid"
	"github.com/addrspec/addrspec/origin/webhook"
)

// Config configures a Dashboard.
type Config struct {
	Ledger   *ledger.Ledger
	Identity *identity.Identity
	API      http.Handler // checks addresses
	Log      *slog.Logger

	// Webhooks sends messages of accounts that have used most of their points.
	Webhooks *webhook.Sender

	// PublicURL is where browsers reach the service: it decides links, the
	// cookies' Secure attribute and the name that passkeys are bound to.
	PublicURL *url.URL
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// SignUp lets anybody create an account.
	SignUp bool
	// OpenID is the provider at which people may sign in; nil for none.
	OpenID *openid.Provider
	// Release is the version of the program.
	Release string
	// Health checks the parts of the service, for operators.
	Health func(context.Context) []Health
	// OpenAPI describes the API; the reference is made from it.
	OpenAPI []byte
}

// A Dashboard is the handler of the pages. It is safe for concurrent use.
type Dashboard struct {
	Config
	mux       *http.ServeMux
	passkeys  *identity.Passkeys // nil if the public URL has no host name
	origins   *http.CrossOriginProtection
	requests  chan struct{} // one element for each request under way
	forms     chan struct{} // one element for each form that is arriving
	rendering chan struct{} // one element for each page that is being rendered
	checks    *slots
	exports   *slots
	api       *apiClient
	docs      func() (*docs.Site, error) // rendered when first read: it takes a tenth of the start
}

// New returns a Dashboard.
func New(c Config) (*Dashboard, error) {
	d := &Dashboard{
		Config: c, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(),
		requests: make(chan struct{}, maxRequests), forms: make(chan struct{}, maxForms),
		rendering: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		checks:    newSlots(maxChecks, maxChecksEach, maxCheckMemory), exports: newSlots(maxExports, maxExportsEach, 0),
	}
	d.api = &apiClient{c.API, c.Ledger, newAPISecrets(c.Ledger), c.Log}
	if err := d.origins.AddTrustedOrigin(c.PublicURL.Scheme + "://" + c.PublicURL.Host); err != nil {
		return nil, err
	}
	passkeys, err := c.Identity.Passkeys(c.PublicURL)
	if err != nil && !errors.Is(err, identity.ErrNoPasskeys) {
		return nil, err
	}
	d.passkeys = passkeys
	d.docs = sync.OnceValues(func() (*docs.Site, error) { return docs.New(c.OpenAPI, c.PublicURL.String()) })
	d.addRoutes()
	return d, nil
}

// secure reports whether browsers reach the service through TLS.
func (d *Dashboard) secure() bool { return d.PublicURL.Scheme == "https" }

// link returns the public URL of a path.
func (d *Dashboard) link(path string) string { return d.PublicURL.JoinPath(path).String() }
