package service

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/api"
)

// Config is what a service is started with: the flags of `addrspec serve`. Their help
// texts say what each means.
type Config struct {
	DatabaseFlag   `group:"Database:"`
	ModuleFlags    `group:"Module and lists:"`
	DashboardFlags `group:"Dashboard and sign-in:"`
	SecurityFlags  `group:"security.txt:"`
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
	MaxConnections int           `group:"Limits:" default:"16384" placeholder:"N" help:"The most client connections, about 25 KiB each. A further one replaces the one that was idle longest, or gets 503 if every one has a request in progress (${default})."`
	BodyMemory     ByteSize      `group:"Limits:" default:"64MiB" placeholder:"SIZE" help:"The most memory for requests in progress (bodies, results, lookups, responses), a quarter of it for one account. The process needs about twice as much (${default})."`
	ListsURL       string        `group:"Module and lists:" name:"lists-url" placeholder:"URL" help:"A feed of signed lists: the directory of a web server that './build.sh lists --feed' writes. Needs --lists-key. Newer lists are taken over while requests go on, and stored at --lists if that is given."`
	ListsInterval  time.Duration `group:"Module and lists:" default:"6h" help:"The time between two looks at --lists-url, give or take a tenth (${default})."`
	Grace          time.Duration `group:"Limits:" default:"15s" help:"The time for requests in progress to finish after SIGTERM (${default})."`
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

// A UsageError is an error of the command line. It sets the exit code 2, as a
// flag that does not parse does.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e UsageError) Unwrap() error { return e.Err }

// Limits of the settings. Longer times would only keep connections and memory
// from other requests.
const (
	shortestTime  = 10 * time.Millisecond
	longestTime   = 5 * time.Minute
	shortestGrace = time.Second // closing the port takes 0.3 s of it, see drain
	longestGrace  = time.Hour
	mostConns     = 1 << 20
	mostLookups   = 1 << 20
)

// check returns an error that lists every setting that cannot work or conflicts
// with another. Run calls it before it opens anything.
func (c *Config) check() error {
	err := errors.Join(
		CheckTime("--dns-timeout", c.DNSTimeout),
		CheckTime("--batch-timeout", c.BatchTimeout),
		checkTimeIn("--grace", c.Grace, shortestGrace, longestGrace),
		CheckNumber("--dns-concurrency", c.DNSConcurrency, mostLookups),
		CheckNumber("--max-connections", c.MaxConnections, mostConns),
		checkBodyMemory(c.BodyMemory),
		c.EdgeSecret.Check(),
		c.SecretKeyFlags.Check(),
		c.checkListeners(),
		c.checkLists(),
		c.checkOpenID(),
		c.securityTxt().Check(),
	)
	if err != nil {
		return UsageError{Err: err}
	}
	return nil
}

// CheckTime returns an error if the time of a flag is too short to be useful, or so
// long that it would only keep connections and memory from other requests.
func CheckTime(flag string, t time.Duration) error {
	return checkTimeIn(flag, t, shortestTime, longestTime)
}

func checkTimeIn(flag string, t, least, most time.Duration) error {
	if t < least || t > most {
		return fmt.Errorf("%s %s: must be from %s to %s", flag, t, least, most)
	}
	return nil
}

// CheckNumber returns an error unless 1 <= n <= most.
func CheckNumber(flag string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: must be from 1 to %d", flag, n, most)
	}
	return nil
}

func checkBodyMemory(given ByteSize) error {
	if given < api.MinMemory {
		return fmt.Errorf("--body-memory %s: must be at least %s, so that the longest body fits into an account's quarter", given, ByteSize(api.MinMemory))
	}
	return nil
}

func (c *Config) checkListeners() error {
	public, err := checkAddress("--listen", c.Listen)
	if err != nil || c.OperatorListen == "" {
		return err
	}
	own, err := checkAddress("--operator-listen", c.OperatorListen)
	if err == nil && public.conflicts(own) {
		return fmt.Errorf("--operator-listen %s conflicts with --listen %s: choose another port, or omit it to serve /metrics and /readyz at --listen", c.OperatorListen, c.Listen)
	}
	return err
}

// An address is the address of a listener.
type address struct{ host, port string }

func checkAddress(flag, text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return address{}, fmt.Errorf("%s %s: must be HOST:PORT, such as 127.0.0.1:8080", flag, text)
	}
	return address{host, port}, nil
}

// conflicts reports whether two listeners cannot exist together. Port 0 means any
// free port.
func (a address) conflicts(b address) bool {
	return a.port == b.port && a.port != "0" && (a.host == b.host || a.unspecified() || b.unspecified())
}

// unspecified reports whether the address is that of all interfaces.
func (a address) unspecified() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == "" || err == nil && ip.IsUnspecified()
}

func (a address) loopback() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// warn logs settings that work but may be a mistake.
func (c *Config) warn(log *slog.Logger) {
	if public, err := checkAddress("--listen", c.Listen); err == nil && !public.loopback() {
		log.Warn("API keys can be read on the network, since the service has no TLS: terminate TLS in a proxy (nginx, Caddy, a load balancer), and set --listen to an address that only the proxy can reach, such as 127.0.0.1:8080", "listen", c.Listen)
	}
	if public, err := checkAddress("--listen", c.Listen); err == nil && !public.loopback() && c.Dashboard == "on" && c.PublicURL == "" {
		log.Warn("the dashboard's links and passkeys are for http://localhost, and its cookies are sent without TLS: set --public-url to where browsers reach the service, such as https://addrspec.example, or --dashboard=off")
	}
	if c.BatchTimeout < c.DNSTimeout {
		log.Warn("a batch times out before a slow MX lookup does, so its response is partial and does not report the lookup's error; set --batch-timeout above --dns-timeout",
			"batch_timeout", c.BatchTimeout.String(), "dns_timeout", c.DNSTimeout.String())
	}
}

// EdgeSecrets are the secrets of --edge-secret: the current one and, while workers
// are changed from one secret to the next, the other. Its text is that of the flag,
// a list separated by a comma.
type EdgeSecrets string

const (
	shortestSecret = 16
	mostSecrets    = 2
)

// List returns the secrets, none if there is no edge.
func (s EdgeSecrets) List() []string { return splitSecrets(string(s)) }

func splitSecrets(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Check rejects a secret that can be guessed or that a header cannot contain (RFC
// 9110 section 5.5). Its errors do not contain the secrets.
func (s EdgeSecrets) Check() error {
	return checkSecrets("--edge-secret", s.List(), shortestSecret, "workers change")
}

// checkSecrets rejects secrets that can be guessed, or that are not one or two while
// somebody changes from one to the other. The name is the flag's.
func checkSecrets(name string, secrets []string, shortest int, change string) error {
	if len(secrets) > mostSecrets {
		return fmt.Errorf("%s has %d secrets: must be one, or two separated by a comma while %s from one to the other", name, len(secrets), change)
	}
	for n, secret := range secrets {
		if err := checkSecret(secret, shortest); err != nil {
			return fmt.Errorf("%s%s %w", name, ordinal(n, len(secrets)), err)
		}
	}
	if len(secrets) == mostSecrets && secrets[0] == secrets[1] {
		return fmt.Errorf("%s has the same secret twice: the second is the one that %s to or from", name, change)
	}
	return nil
}

// ordinal says which of several secrets an error is about.
func ordinal(n, of int) string {
	if of == 1 {
		return ""
	}
	return []string{", the first of two,", ", the second of two,"}[n]
}

func checkSecret(secret string, shortest int) error {
	switch {
	case strings.TrimSpace(secret) != secret, strings.ContainsFunc(secret, notPrintableASCII):
		return errors.New("has white space at its start or end, or a character that is not printable ASCII, which a header or a file may change: use letters and digits")
	case len(secret) < shortest:
		return fmt.Errorf("has %d characters: must be at least %d random ones, such as the output of openssl rand -hex 24", len(secret), shortest)
	}
	return nil
}

func notPrintableASCII(r rune) bool { return r < ' ' || r > '~' }

// ByteSize is a flag's number of bytes, such as 64MiB.
type ByteSize int64

// UnmarshalText parses a number with a unit: B, KiB, MiB, GiB, or kB, MB, GB.
func (s *ByteSize) UnmarshalText(text []byte) error {
	bytes, err := humanize.ParseBytes(string(text))
	if err != nil || bytes > math.MaxInt64 {
		return fmt.Errorf("%q is not a size; write it like 64MiB", text)
	}
	*s = ByteSize(bytes)
	return nil
}

func (s ByteSize) String() string { return humanize.IBytes(uint64(s)) }

// SecurityFlags are the content of /.well-known/security.txt.
type SecurityFlags struct {
	SecurityContact   []string `sep:"none" placeholder:"URI" help:"Where to report a vulnerability of this service: a mailto:, https: or tel: URI, the preferred one first; repeat it for up to 10. With it, /.well-known/security.txt is served (RFC 9116)."`
	SecurityPolicy    string   `placeholder:"URI" help:"The https: URI of your policy for such reports, for security.txt."`
	SecurityLanguages string   `placeholder:"TAGS" help:"The languages you read, such as en,de, for security.txt."`
}

// securityTxt returns the file. Its canonical address is known only from
// --public-url, and must have https (RFC 9116 section 2.5.2).
func (c *Config) securityTxt() *api.SecurityTxt {
	file := &api.SecurityTxt{Contacts: c.SecurityContact, Policy: c.SecurityPolicy, Languages: c.SecurityLanguages}
	if public, err := c.At(""); err == nil && public.Scheme == "https" {
		file.Canonical = public.JoinPath(api.SecurityTxtPath).String()
	}
	return file
}
