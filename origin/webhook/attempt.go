package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"github.com/dustin/go-humanize/english"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// sending is the status of a delivery while an attempt runs. Its lease ends at the
// time of the next attempt.
const sending = "being sent"

// A hook is the row of an account's webhook.
type hook struct {
	account, rotated, disabled, created int64
	url, secret, previous               string
}

func (h *hook) scan(r store.Row) error {
	return r.Scan(&h.url, &h.secret, &h.previous, &h.rotated, &h.disabled, &h.created)
}

// lock returns the statement that locks the webhook's row and reads it. After
// that, statements see what other replicas have committed under the lock.
func (h *hook) lock() store.Statement {
	return store.Statement{Name: "lock_webhook", Args: []any{h.account}, Scan: h.scan}
}

// secrets are those that sign at now, the newest first, as they are stored.
func (h *hook) secrets(now time.Time) []string {
	age := now.Sub(timeOf(h.rotated)) // negative if the clock was ahead at the rotation
	if h.previous != "" && age.Abs() < bothSign {
		return []string{h.secret, h.previous}
	}
	return []string{h.secret}
}

// An attempt is a delivery that this replica has claimed.
type attempt struct {
	hook
	id, body string
	percent  int64
	number   int64     // 1 is the first
	began    time.Time // by this machine's clock, before the claim
	time     time.Time // of the claim, by the database's clock
	spent    bool      // all attempts were made, and the last one's process died: nothing is sent
}

// claim returns the account's next delivery that is due, with a lease, or nil if
// there is none or another replica is sending to the account.
func (s *Sender) claim(ctx context.Context, account int64) (*attempt, error) {
	a, open := &attempt{began: time.Now()}, []delivery(nil)
	reads := func() []store.Statement {
		a.hook, open = hook{account: account}, nil
		return []store.Statement{a.lock(), {Name: "read_open_deliveries", Args: []any{account}, Scan: func(r store.Row) error {
			d := delivery{}
			err := r.Scan(&d.id, &d.month, &d.percent, &d.body, &d.created, &d.next, &d.attempts, &d.status)
			open = append(open, d)
			return err
		}}}
	}
	found := false
	err := s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		d := nextDue(open, now.UnixNano())
		if found = d != nil && a.url != "" && a.disabled == 0; !found {
			return nil, nil
		}
		return a.take(d, now, s), nil
	})
	if err != nil || !found {
		return nil, err
	}
	return a, nil
}

// nextDue returns the first delivery that is due, or nil if there is none or one
// is being sent.
func nextDue(open []delivery, now int64) (due *delivery) {
	for i := range open {
		d := &open[i]
		waits := d.next > now && d.next <= latestNext(now)
		if waits && d.status == sending {
			return nil
		}
		if !waits && due == nil {
			due = d
		}
	}
	return due
}

// latestNext returns the latest time that the next attempt of a delivery, or the end of a
// lease, can have now. A later one was stored while the clock was ahead: it is due, or the
// account would get no message until the clock has caught up.
func latestNext(now int64) int64 { return now + int64(2*maxRetryAfter) }

// take returns the statements that claim d, and seal the secrets if that was not done
// with the present key.
func (a *attempt) take(d *delivery, now time.Time, s *Sender) []store.Statement {
	a.id, a.body, a.percent, a.time = d.id, d.body, d.percent, now
	a.number = d.attempts + 1
	a.spent = a.number > int64(len(s.Retries)+1)
	list := []store.Statement{{Name: "claim_delivery", Args: []any{d.id, s.leaseEnd(now), a.number, sending}}}
	if seal := s.Sealer.Renew(store.SecretOfWebhook, "reseal_webhook", a.account, a.secret, a.previous); seal.Name != "" {
		list = append(list, seal)
	}
	return list
}

// leaseEnd returns the end of a lease that begins at now.
func (s *Sender) leaseEnd(now time.Time) int64 { return now.Add(s.Timeout + s.Lease).UnixNano() }

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
	url, err := acceptURL(a.url, s.guard)
	if err != nil {
		return nil, err
	}
	secrets, err := s.unseal(a.account, a.secrets(a.time))
	if err != nil {
		return nil, errSecret
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(a.body))
	if err != nil {
		return nil, ErrURL
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "addrspec-webhook")
	return r, sign(r.Header, a.id, a.time, a.body, secrets)
}

// errSecret is for the owner; doctor has the reason for the operator.
var errSecret = errors.New("the signing secret cannot be read; set the URL again, with a new one")

func (s *Sender) unseal(account int64, stored []string) (secrets []string, err error) {
	for _, one := range stored {
		secret, err := s.Sealer.Open(store.SecretOfWebhook, account, one)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
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

// defaultRetries are the waits after the first attempt and each further one, as
// Standard Webhooks recommends: 8 attempts in about 32 hours.
var defaultRetries = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour}

// maxRetryAfter bounds the wait that a receiver can ask for.
const maxRetryAfter = 14 * time.Hour

// jitter is the largest part of a wait that is added to it at random, so that
// messages that failed together are not repeated together.
const jitter = 0.2

// A verdict is what becomes of a delivery after an attempt.
type verdict struct {
	attempts int64         // that count
	wait     time.Duration // before the next attempt
	done     bool
	status   string
}

// judge decides what becomes of a delivery. An interrupted attempt does not count,
// and is repeated at once by another replica or after a restart. A test is made
// once.
func (s *Sender) judge(a *attempt, o outcome) verdict {
	v := verdict{attempts: a.number, status: o.words}
	if o.interrupted || a.spent {
		v.attempts--
	}
	switch last := a.number > int64(len(s.Retries)); {
	case o.ok():
		v.done, v.status = true, "delivered: "+o.words
	case o.gone():
		v.done, v.status = true, "abandoned: HTTP 410, so the webhook is disabled"
	case a.percent == 0:
		v.done, v.status = true, "failed: "+o.words
	case o.interrupted:
	case last:
		v.done, v.status = true, fmt.Sprintf("abandoned after %s: %s", english.Plural(int(v.attempts), "attempt", ""), o.words)
	default:
		wait := max(s.Retries[a.number-1], o.retryAfter)
		v.wait = wait + time.Duration(rand.Float64()*jitter*float64(wait))
	}
	return v
}

// finish records the outcome of an attempt. It tries again until the lease ends:
// afterwards the attempt is repeated anyway.
func (s *Sender) finish(ctx context.Context, a *attempt, o outcome) (v verdict, err error) {
	v = s.judge(a, o)
	for {
		if err = s.recordInTime(ctx, a, o, v); err == nil {
			s.count(a, o, v)
			return v, nil
		}
		select {
		case <-time.After(min(time.Second, s.Lease/4)):
		case <-ctx.Done():
			return v, err
		}
		if time.Since(a.began) > s.Timeout+s.Lease {
			return v, err
		}
	}
}

// recordTime bounds a transaction of record.
const recordTime = 5 * time.Second

// recordInTime records the verdict although ctx has ended: a stop must not leave
// the lease of an attempt that has ended.
func (s *Sender) recordInTime(ctx context.Context, a *attempt, o outcome, v verdict) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return s.record(ctx, a, o, v)
}

// record stores the verdict. After 410 it also disables the webhook, unless its
// owner has set another URL meanwhile.
func (s *Sender) record(ctx context.Context, a *attempt, o outcome, v verdict) error {
	present := hook{account: a.account}
	reads := func() []store.Statement { return []store.Statement{present.lock()} }
	return s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		next, done := now.Add(v.wait).UnixNano(), int64(0)
		if v.done {
			done = now.UnixNano()
		}
		list := []store.Statement{{Name: "finish_attempt", Args: []any{a.id, a.number, v.attempts, next, done, v.status}}}
		if o.gone() && present.url == a.url && present.created == a.created {
			list = append(list, disable(ctx, a.account, now)...)
		}
		return list, nil
	})
}

// disable returns the statements that disable a webhook: its receiver wants no
// more messages (RFC 9110 section 15.5.11).
func disable(ctx context.Context, account int64, now time.Time) []store.Statement {
	list := []store.Statement{
		{Name: "disable_webhook", Args: []any{account, now.UnixNano()}},
		{Name: "end_deliveries", Args: []any{account, now.UnixNano(), "abandoned: the webhook is disabled"}},
	}
	return append(list, book.Audit(book.WithActor(ctx, book.Service), account, now, "webhook.disable", "the receiver responded with HTTP 410")...)
}

// count counts and logs the outcome, without the URL.
func (s *Sender) count(a *attempt, o outcome, v verdict) {
	level, event := slog.LevelInfo, "webhook sent"
	if o.ok() {
		s.sent.Add(1)
	} else {
		s.failed.Add(1)
		level, event = slog.LevelWarn, "webhook not sent"
		if v.done && a.percent != 0 {
			s.abandoned.Add(1)
			event = "webhook abandoned"
		}
	}
	s.Log.Log(context.Background(), level, event, "account", a.account, "percent", a.percent, "attempt", a.number, "outcome", o.words)
}
