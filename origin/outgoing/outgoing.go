// Package outgoing makes the HTTP clients with which this program calls other services.
package outgoing

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"
)

const (
	// connectTime is for a connection, and again for the handshake of TLS, which may go on after
	// the request has ended.
	connectTime = 10 * time.Second
	mostHeader  = 16 << 10 // bytes of a response's header
)

// Options are in what the clients differ. The zero value closes each connection after use, and
// leaves the time of an exchange to the contexts of the requests.
type Options struct {
	Timeout time.Duration  // of an exchange with its body; 0 is no limit but 10 s to connect
	Idle    int            // connections to a host that are kept for a minute
	Direct  bool           // ignore the proxy of the environment
	Dialer  net.Dialer     // but for its Timeout
	Roots   *x509.CertPool // authorities in place of the system's; nil for these
}

// New returns a client of HTTP/1.1. It follows no redirect, because what it sends, such as a
// key, is for the host of the request alone: the caller gets the response that redirects.
func New(o Options) *http.Client {
	o.Dialer.Timeout = connectTime
	if o.Timeout > 0 {
		o.Dialer.Timeout = min(connectTime, o.Timeout)
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            o.Dialer.DialContext,
		TLSHandshakeTimeout:    o.Dialer.Timeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
		DisableKeepAlives:      o.Idle == 0,
		MaxIdleConnsPerHost:    o.Idle,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: mostHeader,
		Protocols:              new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true) // a hostile server can do less than with HTTP/2
	if o.Direct {
		transport.Proxy = nil
	}
	return &http.Client{
		Transport:     transport,
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
