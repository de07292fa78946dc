package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/api"
)

// A usageError is one of the command line: exit code 2, as for a flag that does
// not parse.
type usageError struct{ error }

// Bounds of the settings. Longer times would only keep connections and memory
// from other requests.
const (
	shortestTime   = 10 * time.Millisecond
	longestTime    = 5 * time.Minute
	shortestGrace  = time.Second // closing the port takes 0.3 s of it, see drain
	longestGrace   = time.Hour
	mostConns      = 1 << 20
	mostLookups    = 1 << 20
	shortestSecret = 16
)

// check refuses settings that contradict each other or that no service can work
// with, all at once, before anything is opened.
func (c *serveCmd) check() error {
	err := errors.Join(
		checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime),
		checkTime("--batch-timeout", c.BatchTimeout, shortestTime, longestTime),
		checkTime("--grace", c.Grace, shortestGrace, longestGrace),
		checkNumber("--dns-concurrency", c.DNSConcurrency, mostLookups),
		checkNumber("--max-connections", c.MaxConnections, mostConns),
		checkBodyMemory(c.BodyMemory),
		checkSecret(c.EdgeSecret),
		c.checkListeners(),
	)
	if err != nil {
		return usageError{err}
	}
	return nil
}

func checkTime(flag string, t, least, most time.Duration) error {
	if t < least || t > most {
		return fmt.Errorf("%s %s: give a time from %s to %s", flag, t, least, most)
	}
	return nil
}

func checkNumber(flag string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: give a number of at least 1 and at most %d", flag, n, most)
	}
	return nil
}

func checkBodyMemory(given size) error {
	if given < api.MinBodyMemory {
		return fmt.Errorf("--body-memory %s: give at least %s, so that an account's quarter has room for the longest body", given, size(api.MinBodyMemory))
	}
	return nil
}

// checkSecret refuses what can be guessed, and what no header can carry (RFC
// 9110 section 5.5). The secret is not repeated.
func checkSecret(secret string) error {
	switch {
	case secret == "":
		return nil
	case len(secret) < shortestSecret:
		return fmt.Errorf("--edge-secret has %d characters: give at least %d random ones, such as those of openssl rand -hex 24", len(secret), shortestSecret)
	case strings.TrimSpace(secret) != secret, strings.ContainsFunc(secret, unfit):
		return errors.New("--edge-secret has white space at an end, or a character that is not printable ASCII: workers cannot send it in a header; give letters and digits")
	}
	return nil
}

func unfit(r rune) bool { return r < ' ' || r > '~' }

func (c *serveCmd) checkListeners() error {
	public, err := checkAddress("--listen", c.Listen)
	if err != nil || c.OperatorListen == "" {
		return err
	}
	own, err := checkAddress("--operator-listen", c.OperatorListen)
	if err == nil && public.clashes(own) {
		return fmt.Errorf("--operator-listen %s is the address of --listen %s: give it a port of its own, or leave it out to have /metrics and /readyz on --listen", c.OperatorListen, c.Listen)
	}
	return err
}

// An address is where a listener is to be.
type address struct{ host, port string }

func checkAddress(flag, text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return address{}, fmt.Errorf("%s %s: give HOST:PORT, as in 127.0.0.1:8080", flag, text)
	}
	return address{host, port}, nil
}

// clashes reports whether two listeners cannot both be had. Port 0 is a free one.
func (a address) clashes(b address) bool {
	return a.port == b.port && a.port != "0" && (a.host == b.host || a.everywhere() || b.everywhere())
}

func (a address) everywhere() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == "" || err == nil && ip.IsUnspecified()
}

func (a address) loopback() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// warn logs settings that work, and that an operator may not want.
func (c *serveCmd) warn(log *slog.Logger) {
	if public, err := checkAddress("--listen", c.Listen); err == nil && !public.loopback() {
		log.Warn("API keys can be read on the network: the service has no TLS of its own; let a proxy on this machine (nginx, Caddy, a load balancer) end TLS, and give --listen an address that only the proxy reaches, such as 127.0.0.1:8080", "listen", c.Listen)
	}
	if c.BatchTimeout < c.DNSTimeout {
		log.Warn("a batch ends before a slow MX look-up can: its answer is partial where it could report the look-up's error; give a --batch-timeout over --dns-timeout",
			"batch_timeout", c.BatchTimeout.String(), "dns_timeout", c.DNSTimeout.String())
	}
}
