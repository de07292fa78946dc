package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Errors of an owner's requests.
var (
	ErrNone     = errors.New("the account has no webhook; set a URL first")
	ErrDisabled = errors.New("the webhook is disabled because its receiver responded with HTTP 410 (Gone); set the URL again to enable it")
)

// A Webhook is where an account gets messages. Its secret is shown only when it is
// made.
type Webhook struct {
	URL      string
	Created  time.Time
	Rotated  time.Time // when the secret was last rotated; zero is never
	Disabled time.Time // when the receiver responded with 410 Gone; zero if it has not
}

// Get returns an account's webhook, or ErrNone.
func (s *Sender) Get(ctx context.Context, account int64) (Webhook, error) {
	h := hook{account: account}
	if err := s.query(ctx, "read_webhook", []any{account}, h.scan); err != nil {
		return Webhook{}, err
	}
	if h.url == "" {
		return Webhook{}, ErrNone
	}
	return Webhook{h.url, timeOf(h.created), timeOf(h.rotated), timeOf(h.disabled)}, nil
}

// Set makes address the URL of an account's webhook and returns its new secret,
// since every URL has a secret of its own. Messages that wait are sent to it. The
// error wraps ErrURL if the URL is not accepted, and is ledger.ErrNoAccount if
// there is no such account.
func (s *Sender) Set(ctx context.Context, account int64, address string) (secret string, err error) {
	if address, err = acceptURL(address, s.guard); err != nil {
		return "", err
	}
	secret = newSecret()
	err = s.change(ctx, account, func(_ *hook, now time.Time) ([]store.Statement, error) {
		put := store.Statement{Name: "put_webhook", Args: []any{account, address, s.seal(account, secret), now.UnixNano()}}
		return append([]store.Statement{put}, book.Audit(ctx, account, now, "webhook.set", hostOf(address))...), nil
	})
	return shownIf(err, secret)
}

func (s *Sender) seal(account int64, secret string) string {
	return s.Sealer.Seal(store.SecretOfWebhook, account, secret)
}

// hostOf returns the host of an accepted URL. The audit log shows no more: a path
// may contain a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Rotate returns a new secret. The previous one signs too for a day. Rotating
// again within the day ends the oldest at once.
func (s *Sender) Rotate(ctx context.Context, account int64) (secret string, err error) {
	secret = newSecret()
	err = s.change(ctx, account, func(h *hook, now time.Time) ([]store.Statement, error) {
		if h.url == "" {
			return nil, ErrNone
		}
		rotate := store.Statement{Name: "rotate_webhook", Args: []any{account, s.seal(account, secret), now.UnixNano()}}
		return append([]store.Statement{rotate}, book.Audit(ctx, account, now, "webhook.rotate", hostOf(h.url))...), nil
	})
	return shownIf(err, secret)
}

// shownIf returns the secret only if it was stored.
func shownIf(err error, secret string) (string, error) {
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Remove removes an account's webhook. Messages that wait are not sent.
func (s *Sender) Remove(ctx context.Context, account int64) error {
	return s.change(ctx, account, func(h *hook, now time.Time) ([]store.Statement, error) {
		if h.url == "" {
			return nil, ErrNone
		}
		list := []store.Statement{
			{Name: "delete_webhook", Args: []any{account}},
			{Name: "end_deliveries", Args: []any{account, now.UnixNano(), "abandoned: the webhook was removed"}},
		}
		return append(list, book.Audit(ctx, account, now, "webhook.remove", hostOf(h.url))...), nil
	})
}

// change runs an owner's change under the lock of the webhook's row. decide gets
// an empty hook if there is no row. An error of decide is returned unwrapped.
func (s *Sender) change(ctx context.Context, account int64, decide func(*hook, time.Time) ([]store.Statement, error)) error {
	var h hook
	exists := false
	reads := func() []store.Statement {
		h, exists = hook{account: account}, false
		var month, used, limit int64
		return []store.Statement{h.lock(), {Name: "read_account_points", Args: []any{account}, Scan: func(r store.Row) error {
			exists = true
			return r.Scan(&month, &used, &limit)
		}}}
	}
	return s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if !exists {
			return nil, book.ErrNoAccount
		}
		return decide(&h, now)
	})
}

// testEvery is the least time between two tests of an account.
const testEvery = 10 * time.Second

// testMonth is the month of a test's row: one row, so one test at a time.
const testMonth = 0

// ErrTooSoon is wrapped by Test's error if it must wait. The error says how long.
var ErrTooSoon = errors.New("another test message is not sent yet")

// Test sends a test message now, once, and returns what became of it. It is like
// other messages, with percent 0. It needs no Run, so the command line can test.
// Whether the account may test is decided first, so that an account that may not
// waits for nobody's receiver.
func (s *Sender) Test(ctx context.Context, account int64) (Delivery, error) {
	a, err := s.claimTest(ctx, account)
	if err != nil {
		return Delivery{}, err
	}
	v, err := s.finish(ctx, a, s.sendTest(ctx, a))
	if err != nil {
		return Delivery{}, err
	}
	d := delivery{id: a.id, status: v.status, created: a.time.UnixNano(), attempts: v.attempts, ended: a.time.UnixNano()}
	return d.view(), nil
}

// sendTest makes the attempt. It waits for a slot for half of the attempt's time
// at most.
func (s *Sender) sendTest(ctx context.Context, a *attempt) outcome {
	wait, cancel := context.WithDeadline(ctx, a.began.Add(s.Timeout/2))
	defer cancel()
	if !s.slots.takeForTest(wait) {
		return outcome{words: "not sent, because the service sends many other messages at the moment; try again in a few seconds"}
	}
	defer s.wake()
	defer s.slots.releaseTest()
	return s.send(ctx, a)
}

// A test is what decides on a test message.
type test struct {
	hook
	month, used, limit int64
	exists             bool
	last               int64 // time of the last test
	leases             int64 // end of the latest lease
}

func (t *test) reads() []store.Statement {
	open := func(r store.Row) error {
		var d delivery
		err := r.Scan(&d.id, &d.month, &d.percent, &d.body, &d.created, &d.next, &d.attempts, &d.status)
		if d.status == sending {
			t.leases = max(t.leases, d.next)
		}
		return err
	}
	return []store.Statement{
		t.lock(),
		{Name: "read_account_points", Args: []any{t.account}, Scan: func(r store.Row) error { t.exists = true; return r.Scan(&t.month, &t.used, &t.limit) }},
		{Name: "read_last_test", Args: []any{t.account}, Scan: func(r store.Row) error { return r.Scan(&t.last) }},
		{Name: "read_open_deliveries", Args: []any{t.account}, Scan: open},
	}
}

// refuse returns why no test can be sent at now.
func (t *test) refuse(now time.Time) error {
	next := time.Unix(0, t.last).Add(testEvery)
	switch {
	case !t.exists:
		return book.ErrNoAccount
	case t.url == "":
		return ErrNone
	case t.disabled != 0:
		return ErrDisabled
	case t.leases > now.UnixNano() && t.leases <= latestNext(now.UnixNano()):
		return fmt.Errorf("%w: a message is being sent; try again in half a minute", ErrTooSoon)
	case next.After(now) && next.Sub(now) <= testEvery: // a later one is from a wrong clock
		return fmt.Errorf("%w: try again in %s", ErrTooSoon, english.Plural(int(next.Sub(now)/time.Second)+1, "second", ""))
	}
	return nil
}

// claimTest stores a test message, claimed.
func (s *Sender) claimTest(ctx context.Context, account int64) (*attempt, error) {
	var t test
	a := &attempt{began: time.Now(), id: newID(), number: 1}
	reads := func() []store.Statement { t = test{hook: hook{account: account}}; return t.reads() }
	err := s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if err := t.refuse(now); err != nil {
			return nil, err
		}
		a.hook, a.time, a.body = t.hook, now, t.message(now)
		put := store.Statement{Name: "put_test", Args: []any{account, testMonth, a.id, a.body, now.UnixNano(), s.leaseEnd(now), sending}}
		return []store.Statement{put}, nil
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// message returns the body of a test. The row has the points of an earlier month
// until the account's first charge of this one.
func (t *test) message(now time.Time) string {
	if t.month != monthOf(now) {
		t.used = 0
	}
	return newMessage(now, t.account, 0, t.used, t.limit)
}
