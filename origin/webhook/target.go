package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/addrspec/addrspec/origin/outgoing"
)

// ErrURL is wrapped by the errors of URLs that are not accepted. They do not quote
// the URL, whose path and query often contain a secret.
var ErrURL = errors.New("the webhook's URL is not accepted")

const (
	maxURL  = 2048 // bytes
	maxHost = 253  // bytes of a name (RFC 1035 section 2.3.4, without the final dot)
)

// CheckURL returns an error that wraps ErrURL unless url is the canonical form of a URL that
// an account can have as its webhook, of whatever network: each attempt checks that.
func CheckURL(url string) error {
	everywhere := []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	canonical, err := acceptURL(url, newGuard(everywhere))
	if err == nil && canonical != url {
		err = fmt.Errorf("%w: it is not in its canonical form", ErrURL)
	}
	return err
}

// acceptURL returns the canonical form of a webhook's URL, or an error that wraps
// ErrURL. It does not look up the name: the client checks the addresses whenever
// it connects.
func acceptURL(raw string, guard *guard) (string, error) {
	u, err := parseURL(raw)
	if err == nil {
		err = canonicalHost(u, guard)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrURL, err)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	text := u.String()
	if len(text) > maxURL { // escapes make it longer than it was
		return "", fmt.Errorf("%w: %w", ErrURL, errTooLong)
	}
	return text, nil
}

var errTooLong = fmt.Errorf("it is longer than %d bytes", maxURL)

// parseURL refuses what no URL of a webhook needs, and what programs read
// differently, such as a backslash.
func parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, errTooLong
	}
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }
	if strings.ContainsFunc(raw, odd) {
		return nil, errors.New("it contains a space, a control character, a backslash " +
			"or a character that is not ASCII: percent-encode the path, and write a name as xn--")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it is not a URL such as https://example.com/hook")
	}
	switch {
	case u.Scheme != "https":
		return nil, errors.New("it must begin with https://, " +
			"since others on the way could read and change a message that is not encrypted")
	case u.User != nil:
		return nil, errors.New("it contains a user name or a password; the signature proves who sends")
	case strings.Contains(raw, "#"):
		return nil, errors.New("it contains a fragment (#), which is never sent")
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("it has no host; write it as https://example.com/hook")
	}
	return u, nil
}

// hostName matches names of hosts in lower case. The last label begins with a letter, because
// clients read 2130706433, 0x7f.1 and 127.1 as 127.0.0.1 (URL Standard, "ends in a number").
var hostName = regexp.MustCompile(`^([a-z0-9_-]{1,63}\.)*[a-z][a-z0-9_-]{0,62}$`)

// localNames are the names that never have a public address: RFC 6761, RFC 6762,
// RFC 8375, and .internal, which ICANN has reserved.
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa", ".test", ".invalid", ".example", ".onion"}

// canonicalHost checks the host and the port and writes them in their usual form. The port is
// 443, or 1024 and above for receivers that run without special rights: the other ports below
// 1024 belong to other protocols, such as mail, SSH and directories.
func canonicalHost(u *url.URL, guard *guard) error {
	host, given := strings.ToLower(u.Hostname()), u.Port()
	switch ip, err := netip.ParseAddr(host); {
	case err == nil && ip.Zone() == "" && ip.Is6() == strings.HasPrefix(u.Host, "["):
		if guard.SafeAddr(ip) != nil {
			return errors.New("its host is an address that is not public: " +
				"webhooks go to public addresses only, unless the operator permits the network (--webhook-allow)")
		}
		host = ip.String()
		if ip.Is6() {
			host = "[" + host + "]"
		}
	case len(host) > maxHost || !hostName.MatchString(host):
		return errors.New("its host is not a name such as hooks.example.com, without a final dot, " +
			"and not an IP address in the usual form, such as 192.0.2.1 or [2001:db8::1]")
	case guard.internal:
	case !strings.Contains(host, "."):
		return errors.New("its host has no dot; give the full name, such as hooks.example.com")
	}
	for _, suffix := range localNames {
		if !guard.internal && strings.HasSuffix(host, suffix) {
			return fmt.Errorf("names under %s have no public address", suffix)
		}
	}
	u.Host = host
	if given != "" {
		port, err := strconv.ParseUint(given, 10, 16)
		if err != nil || port < 1024 && port != 443 {
			return errors.New("its port must be 443, or between 1024 and 65535")
		}
		if port != 443 {
			u.Host += ":" + strconv.FormatUint(port, 10)
		}
	}
	return nil
}

type guard struct {
	*ssrf.Guardian
	internal bool // names that no public address can have are accepted
}

// newGuard returns a guard that permits public addresses and those in networks. The library is generated from
// IANA's registries of special-purpose addresses, and refuses whatever embeds an IPv4 address: mapped, 6to4,
// NAT64, Teredo. canonicalHost has checked the port.
func newGuard(networks []netip.Prefix) *guard {
	var v4, v6 []netip.Prefix
	for _, network := range networks {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	guardian := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(wireServer),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return &guard{guardian, len(networks) > 0}
}

// wireServer is Azure's address of the host for its virtual machines. It is a public address by
// IANA's registries, and gives a machine its configuration and secrets.
var wireServer = netip.MustParsePrefix("168.63.129.16/32")

// newClient returns a client that connects to what the guard permits. The guard
// sees the address of every connection after the name was resolved, so a name that
// changes its address between two lookups gains nothing. The environment's proxy would
// resolve the name itself, so it is ignored.
func newClient(guard *guard, local *Local, timeout time.Duration) *http.Client {
	o := outgoing.Options{Timeout: timeout, Direct: true, Dialer: net.Dialer{Control: guard.Safe}}
	if local != nil {
		o.Dialer.Resolver, o.Roots = local.Resolver, local.Roots
	}
	return outgoing.New(o)
}
