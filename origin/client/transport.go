package client

import (
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// attemptTimeout limits one attempt. A batch works up to 10 s by default.
	attemptTimeout = 90 * time.Second
	// maxAnswerHeader is the largest header of an answer in bytes.
	maxAnswerHeader = 64 << 10
)

// newTransport returns a transport with keep-alive connections of HTTP/1.1, and
// the proxy of the environment (HTTPS_PROXY, NO_PROXY).
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConnsPerHost:    Concurrency,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxAnswerHeader,
		Protocols:              protocols,
	}
}

// newHTTP returns a client that follows no redirect: the key would be sent to
// whatever place the answer names.
func newHTTP(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		Timeout:       attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
