package mx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/miekg/dns"
)

// Config configures a [Resolver]. A zero field means its default.
type Config struct {
	Servers     []string      // recursive resolvers, "host:port"; default: those in /etc/resolv.conf at start
	Timeout     time.Duration // of a lookup from its first query, and before that of the wait for a slot; 5 s
	Concurrency int           // lookups that run at a time; 256

	// AccountConcurrency is the limit of an account that is alone: a quarter of
	// Concurrency, at least 1. It shrinks while other accounts use the resolver; see
	// fairQueue.
	AccountConcurrency int

	MinTTL         time.Duration // lower clamp of every TTL; 10 s
	MaxTTL         time.Duration // upper clamp for an MX record; 24 h
	MaxNegativeTTL time.Duration // upper clamp for a negative result (RFC 2308 section 5); 1 h
	FailureTTL     time.Duration // how long a failure is cached (RFC 9520 section 3.2: at least 1 s); 2 s

	// WithMX are domains that have MX records, for [Resolver.Verify]: a server that
	// denies those of all of them lies. None: nothing is verified.
	WithMX []string
	// Strict makes a lookup fail if its reply is that of a server which lies, or if it
	// is a denial by a server that Verify has not asked yet. A false that is cached when
	// a server is found to lie is not served any more, since it may be a lie.
	Strict bool

	// Only tests change these.

	hedge          time.Duration // interval before the second query, doubled for each later one; 400 ms, at most Timeout/8
	maxWaiting     int           // lookups that wait for a slot; 8,192
	accountWaiting int           // of an account that is alone; an eighth of maxWaiting, at least 1
	cacheEntries   int           // domains in the cache; 100,000
	staleFor       time.Duration // how long past its TTL a result of true may be served while resolvers are down (RFC 8767); 24 h; negative: never
	staleWait      time.Duration // how long a caller waits for a refresh before it gets the stale result; 1.8 s
	staleRecheck   time.Duration // time between a failed refresh and the next; 30 s
	clock          otter.Clock   // one of clockResolution
}

func (c Config) withDefaults() Config {
	setDefault(&c.Timeout, 5*time.Second)
	setDefault(&c.Concurrency, 256)
	setDefault(&c.AccountConcurrency, max(c.Concurrency/4, 1))
	setDefault(&c.MinTTL, 10*time.Second)
	setDefault(&c.MaxTTL, 24*time.Hour)
	setDefault(&c.MaxNegativeTTL, time.Hour)
	setDefault(&c.FailureTTL, 2*time.Second)
	setDefault(&c.hedge, min(400*time.Millisecond, c.Timeout/8))
	setDefault(&c.maxWaiting, 8192)
	setDefault(&c.accountWaiting, max(c.maxWaiting/8, 1))
	setDefault(&c.cacheEntries, 100_000)
	setDefault(&c.staleFor, 24*time.Hour)
	setDefault(&c.staleWait, 1800*time.Millisecond)
	setDefault(&c.staleRecheck, 30*time.Second)
	c.staleFor = max(c.staleFor, 0)
	return c
}

// check returns an error for the first invalid setting. Defaults must be set.
func (c Config) check() error {
	switch {
	case c.Timeout < minTimeout:
		return fmt.Errorf("mx: Timeout is %s; give at least %s", c.Timeout, minTimeout)
	case c.Concurrency < 1, c.Concurrency > maxLookups:
		return fmt.Errorf("mx: Concurrency is %d; give 1 to %d", c.Concurrency, maxLookups)
	case c.AccountConcurrency < 1, c.AccountConcurrency > c.Concurrency:
		return fmt.Errorf("mx: AccountConcurrency is %d; give 1 to %d, the value of Concurrency", c.AccountConcurrency, c.Concurrency)
	case min(c.MinTTL, c.MaxTTL, c.MaxNegativeTTL, c.FailureTTL) < 0:
		return errors.New("mx: a duration is negative")
	}
	return checkWithMX(c.WithMX)
}

const maxWithMX = 8

func checkWithMX(domains []string) error {
	if len(domains) > maxWithMX {
		return fmt.Errorf("mx: --dns-with-mx has %d domains; give %d at most", len(domains), maxWithMX)
	}
	for _, domain := range domains {
		if name, err := canonical(domain); err != nil || name == "" {
			return fmt.Errorf("mx: --dns-with-mx %q is not a domain; write one that has MX records, in A-label form, such as gmail.com", domain)
		}
	}
	return nil
}

const (
	minTimeout = time.Millisecond
	maxLookups = 1 << 20
)

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// SocketsPerLookup returns the most sockets that are open for each lookup at a time: one for
// each of its queries, and an idle one.
func (c Config) SocketsPerLookup() int {
	servers := c.Servers
	if len(servers) == 0 {
		servers, _ = SystemServers() // New reports the error
	}
	return mostQueries(len(servers)) + 1
}

const (
	maxServers     = 8
	resolvConf     = "/etc/resolv.conf"
	startUpTimeout = 5 * time.Second // to look up the address of a resolver given by host name
)

// parseServers parses the addresses of the resolvers. Without any it uses those
// in /etc/resolv.conf.
func parseServers(addresses []string) (servers, error) {
	if len(addresses) == 0 {
		var err error
		if addresses, err = systemServers(resolvConf); err != nil {
			return nil, err
		}
	}
	if len(addresses) > maxServers {
		return nil, fmt.Errorf("mx: %d resolvers are given, %d at most; keep the nearest", len(addresses), maxServers)
	}
	parsed := make(servers, len(addresses))
	for i, text := range addresses {
		address, err := parseServer(text)
		if err == nil {
			parsed[i], err = newServer(address)
		}
		if err != nil {
			return nil, fmt.Errorf("mx: resolver address %q: %w; write host:port, such as 127.0.0.1:53 or [::1]:53", text, err)
		}
	}
	return parsed, nil
}

// SystemServers returns the addresses of the resolvers in /etc/resolv.conf.
func SystemServers() ([]string, error) { return systemServers(resolvConf) }

// systemServers reads the addresses from a file in the format of resolv.conf(5).
func systemServers(path string) ([]string, error) {
	c, err := dns.ClientConfigFromFile(path)
	if err != nil || len(c.Servers) == 0 {
		return nil, fmt.Errorf("mx: %s lists no resolver; set one with --dns host:port", path)
	}
	addresses := make([]string, len(c.Servers))
	for i, host := range c.Servers {
		addresses[i] = net.JoinHostPort(host, c.Port)
	}
	return addresses[:min(len(addresses), maxServers)], nil
}

// parseServer parses host:port. A host name is looked up here, once, so that no
// query waits for that.
func parseServer(text string) (string, error) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.String(), checkPort(a.Port())
	}
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return "", errors.New("not host:port")
	}
	port, err := net.LookupPort("udp", service)
	if err != nil {
		return "", fmt.Errorf("%q is not a port", service)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startUpTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", fmt.Errorf("no address found for host %q", host)
	}
	return net.JoinHostPort(found[0], fmt.Sprint(port)), checkPort(uint16(port))
}

func checkPort(port uint16) error {
	if port == 0 {
		return errors.New("port 0 is not allowed")
	}
	return nil
}

// penalty is how long a late server is asked after the others.
const penalty = 30 * time.Second

// server is one recursive resolver.
type server struct {
	address   string                    // host:port, the host an IP address
	udp       *net.UDPAddr              // the same
	lateUntil atomic.Pointer[time.Time] // nil if it never was late
	verdict   atomic.Int32              // of Verify; see unverified
	idle      idleSockets
}

// What is known of a server's honesty.
const (
	unverified int32 = iota // Verify has not asked it yet
	undecided               // it has neither denied all names nor confirmed one, such as by silence
	honest                  // it has confirmed one
	lying                   // it has denied all
)

// servers are those of a Resolver, in the order in which they are configured.
type servers []*server

// count returns how many have a verdict.
func (list servers) count(verdict int32) (n int) {
	for _, s := range list {
		if s.verdict.Load() == verdict {
			n++
		}
	}
	return n
}

// newServer returns the server at an address, which parseServer returned.
func newServer(address string) (*server, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return &server{address: address, udp: net.UDPAddrFromAddrPort(at)}, nil
}

// markLate makes s late for the time of penalty.
func (s *server) markLate() {
	until := time.Now().Add(penalty)
	s.lateUntil.Store(&until)
}

// serverOrder returns all servers in the order to ask: as configured, but late
// ones last.
func (r *Resolver) serverOrder() []serverState {
	now := time.Now()
	order := make([]serverState, 0, len(r.servers))
	for _, late := range [...]bool{false, true} {
		for _, s := range r.servers {
			if s.isLate(now) == late {
				order = append(order, serverState{server: s})
			}
		}
	}
	return order
}
