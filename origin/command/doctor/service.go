package doctor

import (
	"context"
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

	"github.com/addrspec/addrspec/origin/outgoing"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
)

// roots are the authorities that certificates are verified with: the system's
// unless a test has its own.
var roots *x509.CertPool

// ask sends a request, a POST if there is a secret, and returns the response with its body.
// Its errors say what to do.
func ask(ctx context.Context, at *url.URL, secret string) (*http.Response, []byte, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if secret != "" {
		method, body = http.MethodPost, strings.NewReader("{}")
	}
	request, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, nil, err
	}
	if secret != "" {
		request.Header.Set("X-Edge-Secret", secret)
		request.Header.Set("Content-Type", "application/json")
	}
	resp, err := outgoing.New(outgoing.Options{Roots: roots}).Do(request)
	advice := ""
	expired, _ := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case expired.Reason == x509.Expired:
		advice = ": renew the certificate"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		advice = ": the proxy must send the whole chain of a certificate that this machine trusts"
	case errors.As(err, new(x509.HostnameError)):
		advice = ": get a certificate for this name"
	case errors.As(err, new(*net.OpError)):
		advice = ": start the service, or correct the URL"
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w%s", err, advice)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp, text, err
}

// Service asks the running service at a URL: that it is up and ready, how long its
// certificate is valid, what its clock says, and that strangers cannot read its
// metrics. A nil URL is left out.
func Service(at *url.URL) Check {
	return Check{"service", func(ctx context.Context) (string, error) {
		if at == nil {
			return "", nil
		}
		resp, _, err := ask(ctx, at.JoinPath("healthz"), "")
		if err != nil {
			return "", err
		}
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s/healthz is %s: is the service behind this URL?", at, resp.Status)
		}
		detail := at.String() + " is up"
		var problems []error
		if resp.TLS != nil {
			end := resp.TLS.PeerCertificates[0].NotAfter
			detail += ", its certificate valid until " + words.Date(end)
			if left := time.Until(end); left < 14*24*time.Hour {
				problems = append(problems, Advise("the certificate expires in %s: see why it was not renewed",
					words.Days(left)))
			}
		}
		if ip := net.ParseIP(at.Hostname()); at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			problems = append(problems, exposed(ctx, at))
		}
		// The clock of a response is in whole seconds (RFC 9110 section 6.6.1).
		if theirs, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			problems = append(problems, difference("the service's clock", time.Since(theirs).Truncate(time.Second)))
		}
		// /readyz may be at the operator's listener instead.
		ready, _, err := ask(ctx, at.JoinPath("readyz"), "")
		if err == nil && ready.StatusCode == http.StatusServiceUnavailable {
			err = errors.New("/readyz is 503: the ledger cannot commit, or the resolvers are not believed " +
				"(--dns-strict); look at the checks of the database and the resolver, and at the service's log")
		}
		return detail, errors.Join(append(problems, err)...)
	}}
}

// exposed advises against HTTP between machines, and metrics that strangers can read.
func exposed(ctx context.Context, at *url.URL) error {
	var plain error
	if at.Scheme != "https" {
		plain = Advise("%s is not https, so API keys can be read on the network: terminate TLS in a proxy", at)
	}
	resp, _, err := ask(ctx, at.JoinPath("metrics"), "")
	if err == nil && resp.StatusCode == http.StatusOK {
		err = Advise("anybody can read %s/metrics: give serve --operator-listen, or refuse the path in the proxy", at)
	}
	return errors.Join(plain, err)
}

// Origin looks at the endpoint that workers use: that it takes each edge secret. It sends
// requests without an API key, which the origin refuses after the secret and before any work.
// The check is left out without a URL or a secret.
func Origin(at *url.URL, secrets ...string) Check {
	return Check{"edge secret", func(ctx context.Context) (detail string, err error) {
		if at == nil || len(secrets) == 0 {
			return "", nil
		}
		for n, secret := range secrets {
			resp, body, err := ask(ctx, at.JoinPath("v1/edge/admit"), secret)
			if err != nil {
				return "", err
			}
			var problem struct{ Code string }
			_ = json.Unmarshal(body, &problem)
			switch {
			case problem.Code == "INVALID_EDGE_SECRET":
				return "", fmt.Errorf("secret %d of %d: the origin refuses the edge secret: start it and its "+
					"workers with the same --edge-secret", n+1, len(secrets))
			case resp.StatusCode == http.StatusUnauthorized && problem.Code != "":
			case resp.StatusCode == http.StatusNotFound:
				return "", errors.New("the origin has no /v1/edge/admit: start it with --edge-secret, and let the " +
					"proxy pass the path")
			default:
				return "", fmt.Errorf("/v1/edge/admit is %s: is the origin behind this URL?", resp.Status)
			}
		}
		return fmt.Sprintf("the origin takes the edge secret (%d of %[1]d)", len(secrets)), nil
	}}
}

// Edge asks a worker for its versions and compares them with this program's: with
// others its responses may differ from the origin's. It also looks at whether the
// worker refuses a request without a key. A nil URL is left out.
func Edge(at *url.URL, ours func() (host.Info, error)) Check {
	return Check{"edge", func(ctx context.Context) (string, error) {
		if at == nil {
			return "", nil
		}
		resp, body, err := ask(ctx, at.JoinPath("versions"), "")
		if err != nil {
			return "", err
		}
		var theirs host.Info
		if err := json.Unmarshal(body, &theirs); err != nil || resp.StatusCode != http.StatusOK || theirs.Engine == "" {
			return "", fmt.Errorf("%s/versions is %s without versions: is a worker of addrspec behind this URL?", at,
				resp.Status)
		}
		resp, _, err = ask(ctx, at.JoinPath("v1/usage"), "")
		if err != nil {
			return "", err
		}
		if resp.StatusCode != http.StatusUnauthorized {
			return "", fmt.Errorf("%s/v1/usage without a key is %s and not 401: does the worker reach its origin?",
				at, resp.Status)
		}
		info, err := ours()
		if err != nil {
			return "", err
		}
		detail := fmt.Sprintf("%s has engine %s, lists %s, model %s", at, theirs.Engine, theirs.Lists, theirs.Model)
		if theirs != info {
			return "", Advise("%s, and this program engine %s, lists %s, model %s, so their responses may differ: "+
				"deploy both from one release, with one feed of lists", detail, info.Engine, info.Lists, info.Model)
		}
		return detail, nil
	}}
}
