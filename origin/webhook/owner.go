package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/words"
)

// Errors of an owner's requests.
var (
	ErrNone     = errors.New("the account has no webhook; set a URL first")
	ErrDisabled = errors.New("the webhook is disabled because its receiver responded with HTTP 410 (Gone); " +
		"set the URL again to enable it")
	// ErrTooSoon is wrapped by Test's error if it must wait. The error says how long.
	ErrTooSoon = errors.New("another test message is not sent yet")
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
	var h hook
	if err := s.query(ctx, "read_webhook", h.scan, account); err != nil {
		return Webhook{}, err
	}
	if h.url == "" {
		return Webhook{}, ErrNone
	}
	return Webhook{h.url, timeOf(h.created), timeOf(h.rotated), timeOf(h.disabled)}, nil
}

// Set makes address the URL of an account's webhook and returns its new secret,
// since every URL has a secret of its own. Messages that wait are sent to it. The
// error wraps ErrURL if the URL is not accepted, and is book.ErrNoAccount if
// there is no such account.
func (s *Sender) Set(ctx context.Context, account int64, address string) (secret string, err error) {
	address, err = acceptURL(address, s.guard)
	if err != nil {
		return "", err
	}
	secret = newSecret()
	sealed := s.Sealer.Seal(store.SecretOfWebhook, account, secret)
	return secret, s.changeOwn(ctx, account, "webhook.set", address, func(now int64) []store.Statement {
		return []store.Statement{{Name: "put_webhook", Args: []any{account, address, sealed, now}}}
	})
}

// Rotate returns a new secret. The previous one signs too for a day. Rotating
// again within the day ends the oldest at once.
func (s *Sender) Rotate(ctx context.Context, account int64) (secret string, err error) {
	secret = newSecret()
	sealed := s.Sealer.Seal(store.SecretOfWebhook, account, secret)
	return secret, s.changeOwn(ctx, account, "webhook.rotate", "", func(now int64) []store.Statement {
		return []store.Statement{{Name: "rotate_webhook", Args: []any{account, sealed, now}}}
	})
}

// Remove removes an account's webhook. Messages that wait are not sent.
func (s *Sender) Remove(ctx context.Context, account int64) error {
	return s.changeOwn(ctx, account, "webhook.remove", "", func(now int64) []store.Statement {
		return []store.Statement{
			{Name: "delete_webhook", Args: []any{account}},
			{Name: "end_deliveries", Args: []any{account, now, "abandoned: the webhook was removed"}},
		}
	})
}

// changeOwn runs an owner's change, and records the action with the host of address, or of the
// present URL if address is "". The audit log shows no more of it: a path may contain a secret.
func (s *Sender) changeOwn(ctx context.Context, account int64, action, address string,
	statements func(now int64) []store.Statement) error {
	return s.change(ctx, account, func(h *hook, now time.Time) ([]store.Statement, error) {
		u, err := url.Parse(cmp.Or(address, h.url))
		switch {
		case !h.exists:
			return nil, book.ErrNoAccount
		case err != nil:
			return nil, ErrURL
		case u.Host == "":
			return nil, ErrNone
		}
		return append(statements(now.UnixNano()), book.Audit(ctx, account, now, action, u.Host)...), nil
	})
}

// A Delivery is a message as its account's owner sees it.
type Delivery struct {
	ID        string    `json:"id"`      // the webhook-id
	Percent   int       `json:"percent"` // 80 or 100; 0 is a test
	Created   time.Time `json:"created"` // when the threshold was noticed
	Attempts  int       `json:"attempts"`
	Next      time.Time `json:"next,omitzero"` // of the next attempt; zero if there is none
	Done      bool      `json:"-"`             // delivered, failed or abandoned
	Delivered bool      `json:"delivered"`
	Status    string    `json:"status"` // in words, such as "delivered: HTTP 204"
}

// Deliveries returns an account's newest messages, at most limit.
func (s *Sender) Deliveries(ctx context.Context, account int64, limit int) (list []Delivery, err error) {
	err = s.query(ctx, "list_deliveries", func(r store.Row) error {
		var d delivery
		err := d.scan(r)
		list = append(list, d.view())
		return err
	}, account, limit)
	return list, err
}

func (d *delivery) view() Delivery {
	v := Delivery{ID: d.id, Percent: int(d.percent), Created: timeOf(d.created), Attempts: int(d.attempts),
		Done: d.ended != 0, Status: d.status}
	v.Delivered = v.Done && strings.HasPrefix(d.status, "delivered")
	if !v.Done && d.status != sending {
		v.Next = timeOf(d.next)
	}
	switch {
	case v.Status == "":
		v.Status = "waiting to be sent"
	case !v.Done && d.status != sending:
		v.Status = d.status + "; it will be sent again"
	}
	return v
}

const (
	testEvery = 10 * time.Second // the least time between two tests of an account
	testMonth = 0                // the month of a test's row: an account has one row, so one test at a time
)

// Test sends a test message now, once, and returns what became of it. It is like
// other messages, with percent 0. It needs no Run, so the command line can test.
// Whether the account may test is decided first, so that an account that may not
// waits for nobody's receiver. The test waits for a slot for half of the attempt's
// time at most.
func (s *Sender) Test(ctx context.Context, account int64) (Delivery, error) {
	a := &attempt{began: time.Now()}
	err := s.change(ctx, account, func(h *hook, now time.Time) ([]store.Statement, error) {
		if err := h.refuseTest(now); err != nil {
			return nil, err
		}
		a.hook, a.at = h, now
		a.delivery = delivery{id: newID(), attempts: 1, created: now.UnixNano(), body: h.points.message(now, 0)}
		put := []any{account, testMonth, a.id, a.body, a.delivery.created, s.leaseEnd(now), sending}
		return []store.Statement{{Name: "put_test", Args: put}}, nil
	})
	if err != nil {
		return Delivery{}, err
	}
	o := outcome{words: "not sent, because the service sends many other tests at the moment; " +
		"try again in a few seconds"}
	select {
	case s.tests <- struct{}{}:
		o = s.send(ctx, a)
		<-s.tests
	case <-time.After(time.Until(a.began.Add(s.Timeout / 2))):
	case <-ctx.Done():
	}
	v, err := s.finish(ctx, a, o)
	if err != nil {
		return Delivery{}, err
	}
	a.status, a.attempts, a.ended = v.status, v.attempts, a.at.UnixNano()
	return a.view(), nil
}

// refuseTest returns why no test can be sent at now.
func (h *hook) refuseTest(now time.Time) error {
	switch {
	case !h.exists:
		return book.ErrNoAccount
	case h.url == "":
		return ErrNone
	case h.disabled != 0:
		return ErrDisabled
	}
	for _, d := range h.deliveries {
		if d.ended == 0 && d.status == sending && d.next > now.UnixNano() {
			return fmt.Errorf("%w: a message is being sent; try again in half a minute", ErrTooSoon)
		}
		if wait := timeOf(d.created).Add(testEvery).Sub(now); d.month == testMonth && wait > 0 {
			return fmt.Errorf("%w: try again in %s", ErrTooSoon, words.Wait(wait))
		}
	}
	return nil
}
