package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"

	"code.dny.dev/ssrf"
)

// maxResponseHeader bounds the memory of a response's header.
const maxResponseHeader = 16 << 10

// newGuard returns what decides whether an address is public. We use a library
// because it is generated from IANA's registries of special-purpose addresses; it
// also refuses whatever embeds an IPv4 address: mapped, 6to4, NAT64, Teredo.
// Package target has checked the port.
func newGuard(local *Local) *ssrf.Guardian {
	options := []ssrf.Option{ssrf.WithAnyPort()}
	if local != nil {
		v4, v6 := split(local.Networks)
		options = append(options, ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	}
	return ssrf.New(options...)
}

// newClient returns a client that connects to public addresses only. The guard
// sees the address of every connection after the name was resolved, so a name that
// changes its address between two look-ups gains nothing. The client follows no
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
