package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

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
		v.done, v.status = true, fmt.Sprintf("abandoned after %d attempts: %s", v.attempts, o.words)
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
	return append(list, ledger.Audit(ledger.WithActor(ctx, ledger.Service), account, now, "webhook.disable", "the receiver answered HTTP 410")...)
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
