package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/addrspec/addrspec/origin/api"
)

// A usageError is an error of the command line. It sets the exit code 2, as a
// flag that does not parse does.
type usageError struct{ error }

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
func (c *serveCmd) check() error {
	err := errors.Join(
		checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime),
		checkTime("--batch-timeout", c.BatchTimeout, shortestTime, longestTime),
		checkTime("--grace", c.Grace, shortestGrace, longestGrace),
		checkNumber("--dns-concurrency", c.DNSConcurrency, mostLookups),
		checkNumber("--max-connections", c.MaxConnections, mostConns),
		checkBodyMemory(c.BodyMemory),
		c.EdgeSecret.check(),
		c.checkListeners(),
		c.checkLists(),
		c.checkOpenID(),
		c.securityTxt().Check(),
	)
	if err != nil {
		return usageError{err}
	}
	return nil
}

func checkTime(flag string, t, least, most time.Duration) error {
	if t < least || t > most {
		return fmt.Errorf("%s %s: must be from %s to %s", flag, t, least, most)
	}
	return nil
}

func checkNumber(flag string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: must be from 1 to %d", flag, n, most)
	}
	return nil
}

func checkBodyMemory(given byteSize) error {
	if given < api.MinBodyMemory {
		return fmt.Errorf("--body-memory %s: must be at least %s, so that the longest body fits into an account's quarter", given, byteSize(api.MinBodyMemory))
	}
	return nil
}

func (c *serveCmd) checkListeners() error {
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
func (c *serveCmd) warn(log *slog.Logger) {
	if public, err := checkAddress("--listen", c.Listen); err == nil && !public.loopback() {
		log.Warn("API keys can be read on the network, since the service has no TLS: terminate TLS in a proxy (nginx, Caddy, a load balancer), and set --listen to an address that only the proxy can reach, such as 127.0.0.1:8080", "listen", c.Listen)
	}
	if public, err := checkAddress("--listen", c.Listen); err == nil && !public.loopback() && c.Dashboard == "on" && c.PublicURL == "" {
		log.Warn("the dashboard's links and passkeys are for http://localhost, and its cookies are sent without TLS: set --public-url to where browsers reach the service, such as https://addrspec.example, or --dashboard=off")
	}
	if c.BatchTimeout < c.DNSTimeout {
		log.Warn("a batch times out before a slow MX look-up does, so its response is partial and does not report the look-up's error; set --batch-timeout above --dns-timeout",
			"batch_timeout", c.BatchTimeout.String(), "dns_timeout", c.DNSTimeout.String())
	}
}
