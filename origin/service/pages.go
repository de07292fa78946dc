package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/webhook"
)

// PublicURLFlag is where browsers reach the service.
type PublicURLFlag struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Where browsers reach the service, such as https://addrspec.example. It decides links, Secure cookies and the name that passkeys are bound to (default: http://localhost with the port of --listen)."`
}

// DashboardFlags configure the pages.
type DashboardFlags struct {
	PublicURLFlag

	OpenIDFlags

	Dashboard    string   `enum:"on,off" default:"on" help:"Serve the front door, the documentation and the account dashboard: on or off (${default})."`
	TrustedProxy []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For is believed when attempts to sign in, and forms and sign-ins in progress, are counted, separated by commas."`
	SignUp       string   `name:"signup" enum:"closed,open" default:"closed" help:"Whether anybody may create an account on the free plan: closed or open (${default})."`
	Webhooks     string   `enum:"on,off" default:"on" help:"Send webhooks to accounts that have used 80 or 100 % of their points: on or off (${default}). Off with --dashboard=off."`
}

// At returns the URL of the flag, or that of this machine.
func (f *PublicURLFlag) At(port string) (*url.URL, error) {
	if f.PublicURL == "" {
		return &url.URL{Scheme: "http", Host: net.JoinHostPort("localhost", port)}, nil
	}
	u, err := url.Parse(f.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil, UsageError{Err: fmt.Errorf("--public-url %q must be http or https and a host, without a path, such as https://addrspec.example", f.PublicURL)}
	}
	u.Path = ""
	return u, nil
}

// portOf returns the port of a listener's address.
func portOf(at net.Addr) string {
	_, port, _ := net.SplitHostPort(at.String())
	return port
}

// trustedProxies parses the networks.
func (f *DashboardFlags) trustedProxies() (list []netip.Prefix, err error) {
	for _, text := range f.TrustedProxy {
		network, err := netip.ParsePrefix(text)
		if address, notNetwork := netip.ParseAddr(text); notNetwork == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("--trusted-proxy %q is not a network, such as 10.0.0.0/8", text)}
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

// URL returns where browsers reach the service.
func (s *Service) URL() (*url.URL, error) { return s.At(portOf(s.Addr())) }

// ownersWebhooks returns what owners manage their webhooks with, which works where the
// messages are sent by other replicas too.
func (s *Service) ownersWebhooks() *webhook.Sender {
	if s.webhooks != nil {
		return s.webhooks
	}
	return webhook.New(s.ledger.Store(), webhook.Options{Log: s.log.Logger, Sealer: s.sealer})
}

// openPages adds the pages to the API, unless the dashboard is off.
func (s *Service) openPages(context.Context) error {
	if s.Dashboard == "off" {
		return nil
	}
	public, err := s.URL()
	if err != nil {
		return err
	}
	proxies, err := s.trustedProxies()
	if err != nil {
		return err
	}
	s.api.Pages, err = dashboard.New(dashboard.Config{Ledger: s.ledger, Identity: identity.New(s.ledger).WithSealer(s.sealer), API: s.api, Engine: s.engine, Log: s.log.Logger,
		PublicURL: public, TrustedProxies: proxies, SignUp: s.SignUp == "open", OpenID: s.openID(public), Release: Release, Health: s.health, Webhooks: s.ownersWebhooks()})
	return err
}

// OpenIDFlags configure sign-in at an OpenID provider.
type OpenIDFlags struct {
	OpenIDIssuer       string `name:"openid-issuer" placeholder:"URL" help:"An OpenID provider, such as your company's, at which people may sign in once they have linked their identity in Settings: its issuer, exactly as it writes it. Register PUBLIC-URL/sign-in/openid/callback there."`
	OpenIDClientID     string `name:"openid-client-id" placeholder:"ID" help:"The client ID that the OpenID provider has given to the service."`
	OpenIDClientSecret string `name:"openid-client-secret" placeholder:"SECRET" help:"Its secret, if it has one. Other users can read command lines: give it as ADDRSPEC_OPENID_CLIENT_SECRET."`
	OpenIDName         string `name:"openid-name" placeholder:"NAME" help:"What people call the OpenID provider, such as the company's name (default: the issuer's host)."`
}

// openID returns the provider of the flags, which checkOpenID has accepted; nil if
// none is configured.
func (f *OpenIDFlags) openID(public *url.URL) *openid.Provider {
	if f.OpenIDIssuer == "" {
		return nil
	}
	name := f.OpenIDName
	if issuer, err := url.Parse(f.OpenIDIssuer); err == nil && name == "" {
		name = issuer.Hostname()
	}
	return openid.New(openid.Config{Issuer: f.OpenIDIssuer, ClientID: f.OpenIDClientID, Secret: f.OpenIDClientSecret, Name: name,
		Redirect: public.JoinPath(dashboard.OpenIDCallback).String()})
}

// checkOpenID refuses flags of which one is missing.
func (f *OpenIDFlags) checkOpenID() error {
	switch {
	case f.OpenIDIssuer == "" && (f.OpenIDClientID != "" || f.OpenIDClientSecret != "" || f.OpenIDName != ""):
		return errors.New("--openid-client-id, --openid-client-secret and --openid-name need --openid-issuer")
	case f.OpenIDIssuer == "":
		return nil
	case f.OpenIDClientID == "":
		return errors.New("--openid-issuer needs --openid-client-id, which the provider gives when you register the service there")
	}
	return checkIssuer(f.OpenIDIssuer)
}

// checkIssuer refuses a URL that cannot be an issuer (OpenID Connect Discovery
// section 3). Without TLS, anybody on the way could sign in as anybody, so http is
// for tests on this machine.
func checkIssuer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !onThisMachine(u.Hostname())) {
		return fmt.Errorf("--openid-issuer %q must be an https URL without query, such as https://login.company.example", text)
	}
	return nil
}

// onThisMachine reports whether a host is localhost or a loopback address.
func onThisMachine(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// healthTime is the most time of all checks of the page Health.
const healthTime = 3 * time.Second

// health checks the parts of the running service, for operators. doctor checks
// the same of a deployment that does not run.
func (s *Service) health(ctx context.Context) []dashboard.Health {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	info := s.engine.View().Info()
	return []dashboard.Health{
		healthOf("database", func() (string, error) { return timed(func() error { return s.ledger.Ready(ctx) }) }),
		healthOf("resolver", func() (string, error) { return s.checkResolvers(ctx) }),
		healthOf("lists", func() (string, error) { return CheckListsAge(info.Lists, AgingLists, time.Now()) }),
		healthOf("clock", func() (string, error) { return s.checkClockApart(ctx) }),
		{Part: "release", OK: true, Detail: Release},
		{Part: "engine", OK: true, Detail: info.Engine},
		{Part: "model", OK: true, Detail: info.Model},
	}
}

func healthOf(part string, check func() (string, error)) dashboard.Health {
	detail, err := check()
	if err != nil {
		return dashboard.Health{Part: part, Detail: err.Error()}
	}
	return dashboard.Health{Part: part, OK: true, Detail: detail}
}

// timed says how long a check took.
func timed(check func() error) (string, error) {
	start := time.Now()
	err := check()
	return fmt.Sprintf("responds in %s", time.Since(start).Round(time.Microsecond)), err
}

// checkResolvers asks whether a resolver responds, and whether one lies. The verdict
// counts for lookups, too.
func (s *Service) checkResolvers(ctx context.Context) (string, error) {
	var lies, undecided error
	var verifying sync.WaitGroup
	verifying.Go(func() { lies, undecided = s.resolver.Verify(ctx) })
	detail, err := timed(func() error { return s.resolver.Probe(ctx) })
	verifying.Wait()
	if undecided != nil {
		detail += "; whether it lies is not known: " + undecided.Error()
	}
	return detail, errors.Join(err, lies)
}

// mostApart is how far the clocks of this machine and of the database may differ.
const mostApart = 5 * time.Second

func (s *Service) checkClockApart(ctx context.Context) (string, error) {
	now, err := s.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	apart := time.Since(now).Abs()
	if apart > mostApart {
		return "", fmt.Errorf("the database's clock differs by %s: start NTP on both machines", apart.Round(time.Second))
	}
	return now.Format("2 Jan 2006, 15:04:05") + " UTC", nil
}
