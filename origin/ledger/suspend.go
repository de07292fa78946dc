package ledger

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// SuspendAccount refuses all keys of an account on every replica, from the next
// request on. Suspending it again changes nothing. It returns ErrNoAccount if
// there is no such account.
func (l *Ledger) SuspendAccount(ctx context.Context, account int64) error {
	return l.changeAccount(ctx, account, func(a Account, now time.Time) (change, error) {
		if !a.Suspended.IsZero() {
			return change{}, nil
		}
		return changed("account.suspend", "", store.Statement{Name: "suspend_account", Args: []any{account, now.UnixNano()}}), nil
	})
}

// ResumeAccount ends a suspension; without one it changes nothing. It returns
// ErrNoAccount if there is no such account.
func (l *Ledger) ResumeAccount(ctx context.Context, account int64) error {
	return l.changeAccount(ctx, account, func(a Account, now time.Time) (change, error) {
		if a.Suspended.IsZero() {
			return change{}, nil
		}
		return changed("account.resume", "", store.Statement{Name: "suspend_account", Args: []any{account, nil}}), nil
	})
}
