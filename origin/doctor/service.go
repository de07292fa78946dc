package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// certificateSoon is when a certificate should be renewed: most are, with a third
// of 90 days left.
const certificateSoon = 14 * 24 * time.Hour

// mostBody is the most that is read of an answer, in bytes.
const mostBody = 64 << 10

// roots are the authorities that certificates are verified with: the system's
// unless a test has its own.
var roots *x509.CertPool

// client asks a service. It follows no redirect, since the secret must go nowhere
// else, and reads every certificate anew.
func client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Service asks the running service at a URL: that it is up and ready, how long its
// certificate is valid, what its clock says, and that strangers cannot read its
// metrics. A nil URL is left out.
func Service(at *url.URL) Check {
	return Check{"service", func(ctx context.Context) (string, error) {
		if at == nil {
			return "", nil
		}
		answer, err := get(ctx, at.JoinPath("healthz"), nil)
		if err != nil {
			return "", err
		}
		if answer.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s/healthz is %s: is the service behind this URL?", at, answer.Status)
		}
		return at.String() + " is up" + validity(answer.TLS), errors.Join(certificate(answer.TLS), transport(at), date(answer), ready(ctx, at), metrics(ctx, at))
	}}
}

// get asks for a page. The body is read and dropped.
func get(ctx context.Context, at *url.URL, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header = header
	return do(request)
}

func do(request *http.Request) (*http.Response, error) {
	answer, err := client().Do(request)
	if err != nil {
		return nil, explain(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostBody))
	answer.Body = io.NopCloser(strings.NewReader(string(text)))
	return answer, err
}

// explain adds to an error what to do.
func explain(err error) error {
	var expired x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var refused *net.OpError
	switch {
	case errors.As(err, &expired) && expired.Reason == x509.Expired:
		return fmt.Errorf("%w: renew the certificate", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: the proxy must send the whole chain of a certificate that this machine trusts", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w: get a certificate for this name", err)
	case errors.As(err, &refused):
		return fmt.Errorf("%w: start the service, or correct the URL", err)
	}
	return err
}

// validity says how long a certificate is valid.
func validity(state *tls.ConnectionState) string {
	if state == nil {
		return ""
	}
	return ", its certificate valid until " + state.PeerCertificates[0].NotAfter.Format(time.DateOnly)
}

func certificate(state *tls.ConnectionState) error {
	if state == nil {
		return nil
	}
	if left := time.Until(state.PeerCertificates[0].NotAfter); left < certificateSoon {
		return Advise("the certificate expires in %d days: see why it was not renewed", int(left.Hours()/24))
	}
	return nil
}

// transport advises against HTTP between machines.
func transport(at *url.URL) error {
	if at.Scheme == "https" || loopback(at) {
		return nil
	}
	return Advise("%s is not https, so API keys can be read on the network: terminate TLS in a proxy", at)
}

func loopback(at *url.URL) bool {
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// date compares the service's clock, which it sends in whole seconds (RFC 9110
// section 6.6.1).
func date(answer *http.Response) error {
	theirs, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return nil
	}
	return difference("the service's clock", time.Since(theirs).Truncate(time.Second))
}

// ready looks at /readyz, which may be at the operator's listener instead.
func ready(ctx context.Context, at *url.URL) error {
	answer, err := get(ctx, at.JoinPath("readyz"), nil)
	if err != nil {
		return err
	}
	if answer.StatusCode == http.StatusServiceUnavailable {
		return errors.New("/readyz is 503: the ledger cannot commit; look at the check of the database and at the service's log")
	}
	return nil
}

// metrics advises against metrics that strangers can read.
func metrics(ctx context.Context, at *url.URL) error {
	if loopback(at) {
		return nil
	}
	return readable(ctx, at)
}

func readable(ctx context.Context, at *url.URL) error {
	answer, err := get(ctx, at.JoinPath("metrics"), nil)
	if err == nil && answer.StatusCode == http.StatusOK {
		return Advise("anybody can read %s/metrics: start serve with --operator-listen 127.0.0.1:9090, or refuse the path in the proxy", at)
	}
	return err
}
