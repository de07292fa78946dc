package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/addrspec/addrspec/origin/webhook/target"
)

// maxRead is how much of a response's body is read. It is discarded; reading it
// spares receivers a reset connection.
const maxRead = 4 << 10

// An outcome is the end of an attempt.
type outcome struct {
	status      int           // of HTTP; 0 without a response
	words       string        // for people; no URL, no address
	retryAfter  time.Duration // that the receiver asks for
	interrupted bool          // by the stop of this replica
}

func (o outcome) ok() bool   { return o.status/100 == 2 }
func (o outcome) gone() bool { return o.status == http.StatusGone }

// send makes the attempt. Its time counts from before the claim, so it ends before
// the lease does.
func (s *Sender) send(ctx context.Context, a *attempt) outcome {
	ctx, cancel := context.WithDeadlineCause(ctx, a.began.Add(s.Timeout), errSlow)
	defer cancel()
	request, err := s.request(ctx, a)
	if err != nil {
		return outcome{words: err.Error()}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return explain(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols { // its body is the connection, and outlives ctx
		_, _ = io.CopyN(io.Discard, response.Body, maxRead)
	}
	o := outcome{status: response.StatusCode, words: fmt.Sprintf("HTTP %d", response.StatusCode), retryAfter: retryAfter(response.Header)}
	if o.status/100 == 3 {
		o.words += ", a redirect; give the URL that it leads to"
	}
	return o
}

// request returns the signed request. It checks the URL again: rules may have
// become stricter since it was stored.
func (s *Sender) request(ctx context.Context, a *attempt) (*http.Request, error) {
	url, err := target.Accept(a.url, s.guard)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(a.body))
	if err != nil {
		return nil, ErrURL
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "addrspec-webhook")
	return r, sign(r.Header, a.id, a.time, a.body, a.secrets(a.time))
}

// retryAfter returns the wait in seconds that a receiver asks for (RFC 9110
// section 10.2.3), or 0. Its other form, a date, is ignored.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

var errSlow = errors.New("no response in time")

// explain describes an error without its text, which contains the URL.
func explain(ctx context.Context, err error) outcome {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSlow) {
		return outcome{interrupted: true, words: "interrupted by the end of the service's process"}
	}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return outcome{words: errSlow.Error()}
	}
	return outcome{words: explainConnection(err)}
}

func explainConnection(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return "the host's name leads to an address that is not public"
	case errors.As(err, &dns):
		return "the host's name could not be resolved"
	case errors.As(err, &certificate):
		return "the host's certificate is not valid: it is expired, for another name, or from an authority that is not trusted"
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "the host does not use TLS at this port"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the host refuses connections at this port"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "the host cannot be reached"
	}
	return "the connection failed, or the response is not HTTP"
}
