package client

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A judgement is what an attempt means: err is nil for an answer of 200.
type judgement struct {
	err   error
	again bool          // the request may be sent again
	after time.Duration // as the service asks; 0 if it does not
}

// judge classifies the outcome of an attempt. Repeating it is safe, since a batch
// has an Idempotency-Key and other requests change nothing but cost.
func (c *Client) judge(r reply, err error) judgement {
	switch {
	case errors.Is(err, errTooLarge):
		return judgement{err: &BadAnswer{errTooLarge.Error()}}
	case err != nil:
		return judgement{err: &Unreachable{c.base.Host, err}, again: !isPermanent(err)}
	case r.status == http.StatusOK:
		return judgement{}
	case r.status >= 300 && r.status < 400:
		return judgement{err: redirected(r)}
	}
	problem := problemOf(r)
	return judgement{err: problem, again: isTemporary(r.status) && IsOutOfPoints(problem) == nil, after: retryAfter(r.header)}
}

// isPermanent reports whether an error of the network will not pass: the
// certificate of the service is not valid.
func isPermanent(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unknown || name || invalid || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// isTemporary reports whether a status may change: the service or a proxy is
// overloaded, stopping or starting, or the first attempt of a batch is still under
// way (409). 402 is not: points refill once a month.
func isTemporary(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// redirected returns the error for a redirect. It names the host alone.
func redirected(r reply) error {
	place := "elsewhere"
	if to, err := url.Parse(r.header.Get("Location")); err == nil && to.Host != "" {
		place = sentence(to.Scheme + "://" + to.Host)
	}
	return &BadAnswer{fmt.Sprintf("the answer (status %d) redirects to %s, which is not followed, so that the key is sent to the given service only", r.status, place)}
}

// problemOf reads an error answer in one of the contract's three shapes. The body
// of a proxy, such as HTML, leaves the message empty.
func problemOf(r reply) error {
	var body struct {
		Error  json.RawMessage // A: the message; B: an object
		Code   string          // A
		Detail string          // C
	}
	_ = json.Unmarshal(r.body, &body)
	var inner struct {
		Code, Message       string
		Required, Remaining int64
	}
	if json.Unmarshal(body.Error, &inner) != nil {
		_ = json.Unmarshal(body.Error, &inner.Message)
		inner.Code = body.Code
	}
	if r.status == http.StatusTooManyRequests {
		inner.Message = body.Detail
	}
	// Without points, a single request gets 429 without Retry-After.
	usedUp := r.status == http.StatusTooManyRequests && body.Detail != "" && r.header.Get("Retry-After") == ""
	if usedUp || r.status == http.StatusPaymentRequired && inner.Code != "" {
		return &OutOfPoints{Required: inner.Required, Remaining: inner.Remaining}
	}
	return &Problem{Status: r.status, Code: sentence(inner.Code), Message: sentence(inner.Message)}
}

// retryAfter returns the seconds of Retry-After. The service sends no date.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
