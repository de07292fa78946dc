package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
)

// certificateSoon is when a certificate should be renewed: most are, with a third
// of 90 days left.
const certificateSoon = 14 * 24 * time.Hour

// mostBody is the most that is read of a response, in bytes.
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
		resp, err := get(ctx, at.JoinPath("healthz"), nil)
		if err != nil {
			return "", err
		}
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s/healthz is %s: is the service behind this URL?", at, resp.Status)
		}
		return at.String() + " is up" + validity(resp.TLS), errors.Join(certificate(resp.TLS), transport(at), date(resp), ready(ctx, at), metrics(ctx, at))
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
	resp, err := client().Do(request)
	if err != nil {
		return nil, explain(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostBody))
	resp.Body = io.NopCloser(strings.NewReader(string(text)))
	return resp, err
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
	return ", its certificate valid until " + words.Date(state.PeerCertificates[0].NotAfter)
}

func certificate(state *tls.ConnectionState) error {
	if state == nil {
		return nil
	}
	if left := time.Until(state.PeerCertificates[0].NotAfter); left < certificateSoon {
		return Advise("the certificate expires in %s: see why it was not renewed", words.Count(int(left.Hours()/24), "day"))
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
func date(resp *http.Response) error {
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return nil
	}
	return difference("the service's clock", time.Since(theirs).Truncate(time.Second))
}

// ready looks at /readyz, which may be at the operator's listener instead.
func ready(ctx context.Context, at *url.URL) error {
	resp, err := get(ctx, at.JoinPath("readyz"), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		return errors.New("/readyz is 503: the ledger cannot commit, or the resolvers are not believed (--dns-strict); look at the checks of the database and the resolver, and at the service's log")
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
	resp, err := get(ctx, at.JoinPath("metrics"), nil)
	if err == nil && resp.StatusCode == http.StatusOK {
		return Advise("anybody can read %s/metrics: start serve with --operator-listen 127.0.0.1:9090, or refuse the path in the proxy", at)
	}
	return err
}

// Origin looks at the endpoint that workers use: that it takes each edge secret. It
// is left out without a URL or a secret.
func Origin(at *url.URL, secrets ...string) Check {
	return Check{"edge secret", func(ctx context.Context) (detail string, err error) {
		if at == nil || len(secrets) == 0 {
			return "", nil
		}
		for n, secret := range secrets {
			if err := takes(ctx, at, secret); err != nil {
				return "", fmt.Errorf("secret %d of %d: %w", n+1, len(secrets), err)
			}
		}
		return fmt.Sprintf("the origin takes the edge secret (%d of %[1]d)", len(secrets)), nil
	}}
}

// takes sends a request without an API key, which the origin refuses after the
// secret and before any work.
func takes(ctx context.Context, at *url.URL, secret string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath("v1/edge/admit").String(), strings.NewReader("{}"))
	if err != nil {
		return err
	}
	request.Header.Set("X-Edge-Secret", secret)
	request.Header.Set("Content-Type", "application/json")
	resp, err := do(request)
	if err != nil {
		return err
	}
	return errorOfSecret(resp)
}

func errorOfSecret(resp *http.Response) error {
	var problem struct{ Code string }
	_ = json.NewDecoder(resp.Body).Decode(&problem)
	switch {
	case problem.Code == "INVALID_EDGE_SECRET":
		return errors.New("the origin refuses the edge secret: start it and its workers with the same --edge-secret")
	case resp.StatusCode == http.StatusUnauthorized && problem.Code != "":
		return nil
	case resp.StatusCode == http.StatusNotFound:
		return errors.New("the origin has no /v1/edge/admit: start it with --edge-secret, and let the proxy pass the path")
	}
	return fmt.Errorf("/v1/edge/admit is %s: is the origin behind this URL?", resp.Status)
}

// Edge asks a worker for its versions and compares them with this program's: with
// others its responses may differ from the origin's. It also looks at whether the
// worker refuses a request without a key. A nil URL is left out.
func Edge(at *url.URL, ours func(context.Context) (host.Info, error)) Check {
	return Check{"edge", func(ctx context.Context) (string, error) {
		if at == nil {
			return "", nil
		}
		theirs, err := versions(ctx, at)
		if err != nil {
			return "", err
		}
		if err := refusesWithoutKey(ctx, at); err != nil {
			return "", err
		}
		info, err := ours(ctx)
		if err != nil {
			return "", err
		}
		detail := fmt.Sprintf("%s has engine %s, lists %s, model %s", at, theirs.Engine, theirs.Lists, theirs.Model)
		if theirs != info {
			return detail, Advise("%s, and this program engine %s, lists %s, model %s, so their responses may differ: deploy both from one release, with one feed of lists", detail, info.Engine, info.Lists, info.Model)
		}
		return detail, nil
	}}
}

func versions(ctx context.Context, at *url.URL) (info host.Info, err error) {
	resp, err := get(ctx, at.JoinPath("versions"), nil)
	if err != nil {
		return info, err
	}
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil || resp.StatusCode != http.StatusOK || info.Engine == "" {
		return info, fmt.Errorf("%s/versions is %s without versions: is a worker of addrspec behind this URL?", at, resp.Status)
	}
	return info, nil
}

func refusesWithoutKey(ctx context.Context, at *url.URL) error {
	resp, err := get(ctx, at.JoinPath("v1/usage"), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("%s/v1/usage without a key is %s and not 401: does the worker reach its origin?", at, resp.Status)
	}
	return nil
}
