package mx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/miekg/dns"
)

const (
	maxServers     = 8
	resolvConf     = "/etc/resolv.conf"
	startUpTimeout = 5 * time.Second // to find the address of a named resolver
)

// Config configures a [Resolver]. A zero field means its default; a negative
// duration turns the thing off where that is said.
type Config struct {
	Servers     []string      // recursive resolvers, "host:port"; empty: those of /etc/resolv.conf
	Timeout     time.Duration // for a whole look-up; 5 s
	Hedge       time.Duration // before a second query, each later one waits twice as long; 400 ms, at most Timeout/8
	Concurrency int           // look-ups that ask at a time; 256
	MaxWaiting  int           // look-ups that ask or wait to; 8,192

	CacheEntries   int           // domains kept; 100,000
	MinTTL         time.Duration // lower clamp of every TTL; 10 s
	MaxTTL         time.Duration // upper clamp for an MX record; 24 h
	MaxNegativeTTL time.Duration // upper clamp for the lack of one (RFC 2308 section 5); 1 h
	FailureTTL     time.Duration // how long a failure is kept (RFC 9520 section 3.2: at least 1 s); 2 s

	StaleFor     time.Duration // how long past its TTL an answer may serve while resolvers are down (RFC 8767); 24 h; negative: never
	StaleWait    time.Duration // how long a caller waits for news before it is told a stale answer; 1.8 s
	StaleRecheck time.Duration // how long after a failed refresh the next one is tried; 30 s

	clock otter.Clock // for tests
}

func (c Config) withDefaults() Config {
	set(&c.Timeout, 5*time.Second)
	set(&c.Hedge, min(400*time.Millisecond, c.Timeout/8))
	set(&c.Concurrency, 256)
	set(&c.MaxWaiting, 8192)
	set(&c.CacheEntries, 100_000)
	set(&c.MinTTL, 10*time.Second)
	set(&c.MaxTTL, 24*time.Hour)
	set(&c.MaxNegativeTTL, time.Hour)
	set(&c.FailureTTL, 2*time.Second)
	set(&c.StaleFor, 24*time.Hour)
	set(&c.StaleWait, 1800*time.Millisecond)
	set(&c.StaleRecheck, 30*time.Second)
	c.StaleFor = max(c.StaleFor, 0)
	if c.clock == nil {
		c.clock = monotonic{time.Now()}
	}
	return c
}

func set[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// parseServers reads the addresses, or those of /etc/resolv.conf.
func parseServers(addresses []string) ([]*server, error) {
	if len(addresses) == 0 {
		var err error
		if addresses, err = systemServers(); err != nil {
			return nil, err
		}
	}
	if len(addresses) > maxServers {
		return nil, fmt.Errorf("mx: %d resolvers are named, %d at most; keep the nearest", len(addresses), maxServers)
	}
	servers := make([]*server, len(addresses))
	for i, text := range addresses {
		address, err := parseServer(text)
		if err != nil {
			return nil, fmt.Errorf("mx: resolver address %q: %w; write host:port, as 127.0.0.1:53 or [::1]:53", text, err)
		}
		servers[i] = &server{address: address}
	}
	return servers, nil
}

func systemServers() ([]string, error) {
	c, err := dns.ClientConfigFromFile(resolvConf)
	if err != nil || len(c.Servers) == 0 {
		return nil, fmt.Errorf("mx: %s names no resolver; name one with --dns host:port", resolvConf)
	}
	addresses := make([]string, len(c.Servers))
	for i, host := range c.Servers {
		addresses[i] = net.JoinHostPort(host, c.Port)
	}
	return addresses[:min(len(addresses), maxServers)], nil
}

// parseServer reads host:port. The address behind a host's name is looked up
// here, once, so that no query waits for it.
func parseServer(text string) (string, error) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.String(), checkPort(a.Port())
	}
	host, service, err := net.SplitHostPort(text)
	if err != nil {
		return "", errors.New("it is not host:port")
	}
	port, err := net.LookupPort("udp", service)
	if err != nil {
		return "", fmt.Errorf("%q is no port", service)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startUpTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", fmt.Errorf("no address is known for host %q", host)
	}
	return net.JoinHostPort(found[0], fmt.Sprint(port)), checkPort(uint16(port))
}

func checkPort(port uint16) error {
	if port == 0 {
		return errors.New("port 0 is none")
	}
	return nil
}
