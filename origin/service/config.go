package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/api"
)

// Config is what a service is started with: the flags of `addrspec serve`. Their help
// texts say what each means.
type Config struct {
	DatabaseFlag   `group:"Database:"`
	ModuleFlags    `group:"Module and lists:"`
	DashboardFlags `group:"Dashboard and sign-in:"`
	SecretKeyFlags `group:"Database:"`

	Listen         string   `group:"Listeners:" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address to listen at (${default})."`
	OperatorListen string   `group:"Listeners:" placeholder:"HOST:PORT" help:"A separate address for /metrics and /readyz, for which --listen then returns 404 (default: they are at --listen)."`
	DNS            []string `group:"DNS:" placeholder:"HOST:PORT" help:"Recursive resolvers to query, separated by commas (default: those of /etc/resolv.conf)."`
	KnownMXFlag    `group:"DNS:"`
	DNSStrict      bool          `group:"DNS:" name:"dns-strict" help:"While a resolver denies the MX records of every domain of --dns-with-mx, do not believe it: lookups get DNS_FAILURE and never false, and /readyz is 503, unless another resolver is sound."`
	DNSTimeout     time.Duration `group:"DNS:" name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup. Before that, a lookup may wait for as long while its account's share is in use (${default})."`
	DNSConcurrency int           `group:"DNS:" name:"dns-concurrency" default:"256" placeholder:"N" help:"The most MX lookups at a time. One account gets at most a quarter of them, and less while others use them (${default})."`
	BatchTimeout   time.Duration `group:"Limits:" default:"10s" help:"The longest time of a batch's work, after which the response has the items finished so far. The charge may add a second (${default})."`
	EdgeSecret     EdgeSecrets   `group:"Listeners:" placeholder:"SECRET[,SECRET]" help:"The secret that edge workers send to /v1/edge/admit, at least 16 characters without a comma. Two, separated by a comma, are both accepted while the workers change from one to the other. Without it the path does not exist."`
	Plans          string        `group:"Database:" placeholder:"FILE" help:"A file of plans, as for 'plan load'. serve reloads it on SIGHUP."`
	Hooks          string        `group:"Sign-up hooks:" type:"path" placeholder:"FILE" help:"A JSON file of sign-up hooks, which serve POST /v1/hooks/NAME. serve reloads it on SIGHUP. 'hooks check' validates it."`
	SecurityTxt    string        `group:"Listeners:" placeholder:"FILE" help:"A file to serve as /.well-known/security.txt, with where to report a vulnerability of this service (RFC 9116). serve reloads it on SIGHUP."`
	MaxConnections int           `group:"Limits:" default:"4096" placeholder:"N" help:"The most client connections, about 25 KiB each, and up to 140 KiB while a header arrives. A further one replaces the one that was idle longest, or gets 503 if every one has a request in progress (${default})."`
	BodyMemory     ByteSize      `group:"Limits:" default:"64MiB" placeholder:"SIZE" help:"The most memory for requests in progress (bodies, results, lookups, responses), a quarter of it for one account. The process needs about twice as much (${default})."`
	ListsURL       string        `group:"Module and lists:" name:"lists-url" placeholder:"URL" help:"A feed of signed lists: the directory of a web server that './build.sh lists --feed' writes. Needs --lists-key. Newer lists are taken over while requests go on, and stored at --lists if that is given."`
	ListsInterval  time.Duration `group:"Module and lists:" default:"6h" help:"The time between two looks at --lists-url, give or take a tenth (${default})."`
	Drain          time.Duration `group:"Limits:" default:"250ms" help:"How long after SIGTERM requests are still served, while /readyz is 503 and each response closes its connection, so that a load balancer goes elsewhere (${default})."`
	Grace          time.Duration `group:"Limits:" default:"15s" help:"The time for requests in progress to finish after --drain (${default})."`
}

// KnownMXFlag names the domains by which a lying resolver is found.
type KnownMXFlag struct {
	DNSWithMX []string `name:"dns-with-mx" default:"gmail.com,outlook.com,yahoo.com" placeholder:"DOMAIN" help:"Domains that have MX records, separated by commas. A resolver that denies those of all of them makes mx false where it is true. In a closed network, name domains that have MX records there; none turns this off (${default})."`
}

// KnownMX returns the domains, none if that is turned off. An empty variable of the
// environment does not turn it off: it means the default.
func (f KnownMXFlag) KnownMX() []string {
	switch {
	case len(f.DNSWithMX) == 0:
		return []string{"gmail.com", "outlook.com", "yahoo.com"}
	case len(f.DNSWithMX) == 1 && f.DNSWithMX[0] == "none":
		return nil
	}
	return f.DNSWithMX
}

// PublicURLFlag is where browsers reach the service.
type PublicURLFlag struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Where browsers reach the service, such as https://addrspec.example. It decides links, Secure cookies and the name that passkeys are bound to (default: http://localhost with the port of --listen)."`
}

// DashboardFlags configure the pages.
type DashboardFlags struct {
	PublicURLFlag

	OpenIDIssuer       string `name:"openid-issuer" placeholder:"URL" help:"An OpenID provider, such as your company's, at which people may sign in once they have linked their identity in Settings: its issuer, exactly as it writes it. Register PUBLIC-URL/sign-in/openid/callback there."`
	OpenIDClientID     string `name:"openid-client-id" placeholder:"ID" help:"The client ID that the OpenID provider has given to the service."`
	OpenIDClientSecret string `name:"openid-client-secret" placeholder:"SECRET" help:"Its secret, if it has one. Other users can read command lines: give it as ADDRSPEC_OPENID_CLIENT_SECRET."`
	OpenIDName         string `name:"openid-name" placeholder:"NAME" help:"What people call the OpenID provider, such as the company's name (default: the issuer's host)."`

	Dashboard    string   `enum:"on,off" default:"on" help:"Serve the front door, the documentation and the account dashboard: on or off (${default})."`
	TrustedProxy []string `placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For is believed when attempts to sign in, and forms and sign-ins in progress, are counted, separated by commas."`
	SignUp       string   `name:"signup" enum:"closed,open" default:"closed" help:"Whether anybody may create an account on the free plan: closed or open (${default})."`
	SourceURL    string   `placeholder:"URL" help:"Where the source code of this service is, for a link on the front door (default: no link)."`
	WebhookAllowFlag

	Webhooks string `enum:"on,off" default:"on" help:"Send webhooks to accounts that have used 80 or 100 % of their points: on or off (${default}). Off with --dashboard=off."`
}

func (f *DashboardFlags) sendsWebhooks() bool { return f.Dashboard == "on" && f.Webhooks == "on" }

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

func (f *DashboardFlags) trustedProxies() ([]netip.Prefix, error) {
	return parseNetworks("--trusted-proxy", f.TrustedProxy)
}

// WebhookAllowFlag lets webhooks reach the operator's own network.
type WebhookAllowFlag struct {
	WebhookAllow []string `name:"webhook-allow" placeholder:"CIDR" help:"Networks that get webhooks although they are not public, such as 10.20.0.0/16, separated by commas. Each customer can then have messages sent, over HTTPS, to any host there."`
}

// WebhookNetworks returns the networks of the flag.
func (f *WebhookAllowFlag) WebhookNetworks() ([]netip.Prefix, error) {
	return parseNetworks("--webhook-allow", f.WebhookAllow)
}

// parseNetworks parses the networks of a flag, of which an address alone is one.
func parseNetworks(flag string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if address, notNetwork := netip.ParseAddr(text); notNetwork == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("%s %q is not a network, such as 10.0.0.0/8", flag, text)}
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

// check returns an error that lists every setting that cannot work or conflicts
// with another. Open calls it before it opens anything.
func (c *Config) check() error {
	errs := []error{
		CheckTime("--dns-timeout", c.DNSTimeout),
		CheckTime("--batch-timeout", c.BatchTimeout),
		checkTimeIn("--drain", c.Drain, 0, time.Hour),
		checkTimeIn("--grace", c.Grace, time.Second, time.Hour),
		CheckNumber("--dns-concurrency", c.DNSConcurrency, 1<<20),
		CheckNumber("--max-connections", c.MaxConnections, 1<<20),
		checkTimeIn("--lists-interval", c.ListsInterval, update.ShortestInterval, update.LongestInterval),
		c.EdgeSecret.Check(),
		c.SecretKeyFlags.Check(),
		checkAddress("--listen", c.Listen),
		c.checkOpenID(),
	}
	if c.OperatorListen != "" {
		errs = append(errs, checkAddress("--operator-listen", c.OperatorListen))
	}
	if c.BodyMemory < api.MinMemory {
		errs = append(errs, fmt.Errorf("--body-memory %s: must be at least %s, so that the longest body fits into an account's quarter",
			c.BodyMemory, ByteSize(api.MinMemory)))
	}
	if c.ListsURL != "" {
		if _, err := update.ParseURL(c.ListsURL); err != nil {
			errs = append(errs, fmt.Errorf("--lists-url: %w", err)) // without the URL, which may contain a password
		}
		if c.ListsKey.IsZero() {
			errs = append(errs, fmt.Errorf("--lists-url needs a key: %w", ErrNoKey))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return UsageError{Err: err}
	}
	return nil
}

// checkAddress refuses what cannot be listened at.
func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return fmt.Errorf("%s %s: must be HOST:PORT, such as 127.0.0.1:8080", flag, address)
	}
	return nil
}

// checkOpenID refuses flags of which one is missing, and a URL that cannot be an issuer
// (OpenID Connect Discovery section 3).
func (f *DashboardFlags) checkOpenID() error {
	switch {
	case f.OpenIDIssuer == "" && (f.OpenIDClientID != "" || f.OpenIDClientSecret != "" || f.OpenIDName != ""):
		return errors.New("--openid-client-id, --openid-client-secret and --openid-name need --openid-issuer")
	case f.OpenIDIssuer == "":
		return nil
	case f.OpenIDClientID == "":
		return errors.New("--openid-issuer needs --openid-client-id, which the provider gives when you register the service there")
	}
	// Without TLS, anybody on the way could sign in as anybody, so http is for tests on this machine.
	u, err := url.Parse(f.OpenIDIssuer)
	safe := false
	if err == nil {
		ip, _ := netip.ParseAddr(u.Hostname())
		safe = u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip.IsLoopback())
	}
	if !safe || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("--openid-issuer %q must be an https URL without query, such as https://login.company.example", f.OpenIDIssuer)
	}
	return nil
}

// warn logs settings that work but may be a mistake.
func (c *Config) warn(log *slog.Logger) {
	host, _, _ := net.SplitHostPort(c.Listen)
	if ip, _ := netip.ParseAddr(host); host != "localhost" && !ip.Unmap().IsLoopback() {
		log.Warn("API keys can be read on the network, since the service has no TLS: terminate TLS in a proxy "+
			"(nginx, Caddy, a load balancer), and set --listen to an address that only the proxy can reach, such as 127.0.0.1:8080",
			"listen", c.Listen)
		if c.Dashboard == "on" && c.PublicURL == "" {
			log.Warn("the dashboard's links and passkeys are for http://localhost, and its cookies are sent without TLS: " +
				"set --public-url to where browsers reach the service, such as https://addrspec.example, or --dashboard=off")
		}
	}
	if c.BatchTimeout < c.DNSTimeout {
		log.Warn("a batch times out before a slow MX lookup does, so its response is partial and does not report "+
			"the lookup's error; set --batch-timeout above --dns-timeout",
			"batch_timeout", c.BatchTimeout.String(), "dns_timeout", c.DNSTimeout.String())
	}
}
