package webhook

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/webhook/target"
)

// Errors of an owner's requests.
var (
	ErrURL      = target.ErrURL // wrapped by the errors of a URL that is not accepted
	ErrNone     = errors.New("the account has no webhook; set a URL first")
	ErrDisabled = errors.New("the webhook is disabled because its receiver answered HTTP 410 (Gone); set the URL again to enable it")
)

// A Webhook is where an account gets messages. Its secret is shown only when it is
// made.
type Webhook struct {
	URL      string
	Created  time.Time
	Rotated  time.Time // when the secret was last rotated; zero is never
	Disabled time.Time // when the receiver answered 410 Gone; zero if it has not
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
	if address, err = target.Accept(address, s.guard); err != nil {
		return "", err
	}
	secret = newSecret()
	err = s.change(ctx, account, func(_ *hook, now time.Time) ([]store.Statement, error) {
		put := store.Statement{Name: "put_webhook", Args: []any{account, address, secret, now.UnixNano()}}
		return append([]store.Statement{put}, ledger.Audit(ctx, account, now, "webhook.set", hostOf(address))...), nil
	})
	return shownIf(err, secret)
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
		rotate := store.Statement{Name: "rotate_webhook", Args: []any{account, secret, now.UnixNano()}}
		return append([]store.Statement{rotate}, ledger.Audit(ctx, account, now, "webhook.rotate", hostOf(h.url))...), nil
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
		return append(list, ledger.Audit(ctx, account, now, "webhook.remove", hostOf(h.url))...), nil
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
			return nil, ledger.ErrNoAccount
		}
		return decide(&h, now)
	})
}
