package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"
)

// ErrURL is wrapped by the errors of URLs that are not accepted. They do not quote
// the URL, whose path and query often contain a secret.
var ErrURL = errors.New("the webhook's URL is not accepted")

const (
	maxURL  = 2048 // bytes
	maxHost = 253  // bytes of a name (RFC 1035 section 2.3.4, without the final dot)
)

// CheckURL returns an error that wraps ErrURL unless url is the canonical form of a URL that
// an account can have as its webhook.
func CheckURL(url string) error {
	canonical, err := acceptURL(url, newGuard(nil))
	if err == nil && canonical != url {
		err = fmt.Errorf("%w: it is not in its canonical form", ErrURL)
	}
	return err
}

// acceptURL returns the canonical form of a webhook's URL, or an error that wraps
// ErrURL. It does not look up the name: the client checks the addresses whenever
// it connects.
func acceptURL(raw string, guard *ssrf.Guardian) (string, error) {
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
		return nil, errors.New("it contains a space, a control character, a backslash or a character that is not ASCII: percent-encode the path, and write a name as xn--")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it is not a URL such as https://example.com/hook")
	}
	switch {
	case u.Scheme != "https":
		return nil, errors.New("it must begin with https://, since others on the way could read and change a message that is not encrypted")
	case u.User != nil:
		return nil, errors.New("it contains a user name or a password; the signature proves who sends")
	case strings.Contains(raw, "#"):
		return nil, errors.New("it contains a fragment (#), which is never sent")
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("it has no host; write it as https://example.com/hook")
	}
	return u, nil
}

// canonicalHost checks the host and the port and writes them in their usual form.
func canonicalHost(u *url.URL, guard *ssrf.Guardian) error {
	host, err := acceptHost(u, guard)
	if err != nil {
		return err
	}
	port, err := acceptPort(u.Port())
	if err != nil {
		return err
	}
	u.Host = host
	if port != httpsPort {
		u.Host += ":" + strconv.Itoa(port)
	}
	return nil
}

func acceptHost(u *url.URL, guard *ssrf.Guardian) (string, error) {
	host := strings.ToLower(u.Hostname())
	if !strings.HasPrefix(u.Host, "[") && !endsInNumber(host) {
		return host, checkName(host)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return "", errors.New("its host is not a name and not an IP address in the usual form, such as 192.0.2.1 or [2001:db8::1]")
	}
	if guard.SafeAddr(ip) != nil {
		return "", errNotPublic
	}
	if ip.Is6() {
		return "[" + ip.String() + "]", nil
	}
	return ip.String(), nil
}

var errNotPublic = errors.New("its host is an address that is not public: webhooks go to public addresses only")

// endsInNumber reports whether clients may read the host as an IPv4 address: its
// last label, without a final dot, is a number (URL Standard, "ends in a number
// checker"). 2130706433, 0x7f.1 and 127.1 are all 127.0.0.1 to some.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	hex, isHex := strings.CutPrefix(last, "0x")
	if isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == "" // an empty label too
}

// localNames are the names that never have a public address: RFC 6761, RFC 6762,
// RFC 8375, and .internal, which ICANN has reserved.
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa", ".test", ".invalid", ".example", ".onion"}

func checkName(host string) error {
	if len(host) > maxHost || strings.Trim(host, nameBytes) != "" {
		return errors.New("its host is not a name such as hooks.example.com")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, nameBytes) != "" {
			return errors.New("its host is not a name such as hooks.example.com, without a final dot")
		}
	}
	if !strings.Contains(host, ".") {
		return errors.New("its host has no dot; give the full name, such as hooks.example.com")
	}
	for _, suffix := range localNames {
		if strings.HasSuffix(host, suffix) {
			return fmt.Errorf("names under %s have no public address", suffix)
		}
	}
	return nil
}

const nameBytes = "abcdefghijklmnopqrstuvwxyz0123456789-_."

const httpsPort = 443

// acceptPort accepts 443, and 1024 and above for receivers that run without
// special rights. The other ports below 1024 belong to other protocols, to which
// this service must not be made to connect: mail, SSH, directories.
func acceptPort(text string) (int, error) {
	if text == "" {
		return httpsPort, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port < 1024 && port != httpsPort {
		return 0, errors.New("its port must be 443, or between 1024 and 65535")
	}
	return int(port), nil
}

// maxResponseHeader bounds the memory of a response's header.
const maxResponseHeader = 16 << 10

// newGuard returns what decides whether an address is public. We use a library
// because it is generated from IANA's registries of special-purpose addresses; it
// also refuses whatever embeds an IPv4 address: mapped, 6to4, NAT64, Teredo.
// Package target has checked the port.
func newGuard(local *Local) *ssrf.Guardian {
	options := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(wireServer)}
	if local != nil {
		v4, v6 := split(local.Networks)
		options = append(options, ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	}
	return ssrf.New(options...)
}

// wireServer is Azure's address of the host for its virtual machines. It is a public one by
// IANA's registries, and gives a machine its configuration and secrets.
var wireServer = netip.MustParsePrefix("168.63.129.16/32")

// newClient returns a client that connects to public addresses only. The guard
// sees the address of every connection after the name was resolved, so a name that
// changes its address between two lookups gains nothing. The client follows no
// redirect and ignores the environment's proxy, which would resolve the name
// itself. It keeps no connection: a receiver gets two messages a month.
func newClient(guard *ssrf.Guardian, local *Local, timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Control: guard.Safe, Timeout: timeout}
	transport := &http.Transport{
		DialContext:            bounded(dialer, timeout),
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeader,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		Protocols:              new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true) // one request needs no more, and a hostile receiver can do less
	if local != nil {
		dialer.Resolver, transport.TLSClientConfig.RootCAs = local.Resolver, local.Roots
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// bounded returns a dial function for connections that end after timeout. A
// request's context does not bound them: the transport goes on to dial and to
// shake hands when the request was cancelled, and a connection that has switched
// protocols has no request.
func bounded(dialer *net.Dialer, timeout time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.SetDeadline(time.Now().Add(timeout))
	}
}

func split(networks []netip.Prefix) (v4, v6 []netip.Prefix) {
	for _, n := range networks {
		if n.Addr().Is4() {
			v4 = append(v4, n)
		} else {
			v6 = append(v6, n)
		}
	}
	return v4, v6
}
