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
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/words"
)

// An attempt is a delivery that this replica has claimed. It counts among the delivery's
// attempts.
type attempt struct {
	*hook
	delivery
	began time.Time // by this machine's clock, before the claim
	at    time.Time // of the claim, by the database's clock
}

// claim returns the account's next delivery that is due, with a lease, or nil if
// there is none or another replica is sending to the account.
func (s *Sender) claim(ctx context.Context, account int64) (*attempt, error) {
	a := &attempt{began: time.Now()}
	err := s.change(ctx, account, func(h *hook, now time.Time) ([]store.Statement, error) {
		if h.url == "" || h.disabled != 0 {
			return nil, nil
		}
		var due *delivery
		for i := range h.deliveries {
			switch d := &h.deliveries[i]; {
			case d.ended != 0:
			case d.next > now.UnixNano() && d.status == sending:
				return nil, nil
			case d.next <= now.UnixNano() && due == nil:
				due = d
			}
		}
		if due == nil {
			return nil, nil
		}
		due.attempts++
		a.hook, a.delivery, a.at = h, *due, now
		list := []store.Statement{{Name: "claim_delivery", Args: []any{a.id, s.leaseEnd(now), a.attempts, sending}}}
		// The secrets are sealed here if they are not yet sealed with the present key.
		seal := s.Sealer.Renew(store.SecretOfWebhook, "reseal_webhook", account, h.secret, h.previous)
		if seal.Name != "" {
			list = append(list, seal)
		}
		return list, nil
	})
	if err != nil || a.hook == nil {
		return nil, err
	}
	return a, nil
}

// leaseEnd returns the end of a lease that begins at now.
func (s *Sender) leaseEnd(now time.Time) int64 { return now.Add(s.Timeout + s.Lease).UnixNano() }

// An outcome is the end of an attempt.
type outcome struct {
	status      int           // of HTTP; 0 without a response
	words       string        // for people; no URL, no address
	retryAfter  time.Duration // that the receiver asks for
	interrupted bool          // by the stop of this replica
}

func (o outcome) ok() bool   { return o.status/100 == 2 }
func (o outcome) gone() bool { return o.status == http.StatusGone }

var (
	errSlow = errors.New("no response in time")
	// errSecret is for the owner; doctor has the reason for the operator.
	errSecret = errors.New("the signing secret cannot be read; set the URL again, with a new one")
)

const (
	// bothSign is how long the previous secret signs too after a rotation, so that a
	// receiver can be changed without losing a message.
	bothSign = 24 * time.Hour
	// maxRead is how much of a response's body is read. It is discarded; reading it
	// spares receivers a reset connection.
	maxRead = 4 << 10
	// maxRetryAfter bounds the wait that a receiver can ask for.
	maxRetryAfter = 14 * time.Hour
)

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
	o := outcome{status: response.StatusCode, words: fmt.Sprintf("HTTP %d", response.StatusCode)}
	if o.status/100 == 3 {
		o.words += ", a redirect; give the URL that it leads to"
	}
	// RFC 9110 section 10.2.3. Its other form, a date, is ignored.
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31); err == nil {
		o.retryAfter = min(time.Duration(seconds)*time.Second, maxRetryAfter)
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
	stored := []string{a.secret}
	if a.previous != "" && a.at.Sub(timeOf(a.rotated)) < bothSign {
		stored = append(stored, a.previous)
	}
	for n, secret := range stored {
		stored[n], err = s.Sealer.Open(store.SecretOfWebhook, a.account, secret)
		if err != nil {
			return nil, errSecret
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(a.body))
	if err != nil {
		return nil, ErrURL
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "addrspec-webhook")
	return r, sign(r.Header, a.id, a.at, a.body, stored)
}

// explain describes an error without its text, which contains the URL.
func explain(ctx context.Context, err error) outcome {
	var dns *net.DNSError
	var late net.Error
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSlow):
		return outcome{interrupted: true, words: "interrupted by the end of the service's process"}
	case ctx.Err() != nil:
		return outcome{words: errSlow.Error()}
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return outcome{words: "the host's name leads to an address that is not public"}
	case errors.As(err, &dns):
		return outcome{words: "the host's name could not be resolved"}
	case errors.As(err, &late) && late.Timeout(): // a timer of the client came before that of ctx
		return outcome{words: errSlow.Error()}
	case errors.As(err, &certificate):
		return outcome{words: "the host's certificate is not valid: it is expired, for another name, " +
			"or from an authority that is not trusted"}
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return outcome{words: "the host does not use TLS at this port"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return outcome{words: "the host refuses connections at this port"}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return outcome{words: "the host cannot be reached"}
	}
	return outcome{words: "the connection failed, or the response is not HTTP"}
}

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
	v := verdict{attempts: a.attempts, status: o.words}
	if o.interrupted || s.spent(a) {
		v.attempts--
	}
	switch last := a.attempts > int64(len(s.Retries)); {
	case o.ok():
		v.done, v.status = true, "delivered: "+o.words
	case o.gone():
		v.done, v.status = true, "abandoned: HTTP 410, so the webhook is disabled"
	case a.percent == 0:
		v.done, v.status = true, "failed: "+o.words
	case o.interrupted:
	case last:
		v.done = true
		v.status = fmt.Sprintf("abandoned after %s: %s", words.Count(v.attempts, "attempt"), o.words)
	default:
		wait := max(s.Retries[a.attempts-1], o.retryAfter)
		v.wait = wait + time.Duration(rand.Float64()*jitter*float64(wait))
	}
	return v
}

// spent reports whether all attempts were made before this one, and the process of the last
// one died: nothing is sent, so that a receiver that ends processes ends few.
func (s *Sender) spent(a *attempt) bool { return a.attempts > int64(len(s.Retries)+1) }

// recordTime bounds the transaction that records an attempt.
const recordTime = 5 * time.Second

// finish records the outcome of an attempt, also if ctx has ended: a stop must not leave the
// lease of an attempt that has ended. If the database does not respond, the attempt is repeated
// after its lease. After 410 it also disables the webhook, unless its owner has set another URL
// meanwhile.
func (s *Sender) finish(ctx context.Context, a *attempt, o outcome) (verdict, error) {
	v := s.judge(a, o)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	err := s.change(ctx, a.account, func(h *hook, now time.Time) ([]store.Statement, error) {
		next, done := now.Add(v.wait).UnixNano(), int64(0)
		if v.done {
			done = now.UnixNano()
		}
		list := []store.Statement{
			{Name: "finish_attempt", Args: []any{a.id, a.attempts, v.attempts, next, done, v.status}}}
		if !o.gone() || h.url != a.url || h.created != a.hook.created {
			return list, nil
		}
		disabled := "abandoned: the webhook is disabled"
		list = append(list,
			store.Statement{Name: "disable_webhook", Args: []any{a.account, now.UnixNano()}},
			store.Statement{Name: "end_deliveries", Args: []any{a.account, now.UnixNano(), disabled}})
		actor, why := book.WithActor(ctx, book.Service), "the receiver responded with HTTP 410"
		return append(list, book.Audit(actor, a.account, now, "webhook.disable", why)...), nil
	})
	if err != nil {
		return v, err
	}
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
	s.Log.Log(ctx, level, event, "account", a.account, "percent", a.percent, "attempt", a.attempts, "outcome", o.words)
	return v, nil
}
