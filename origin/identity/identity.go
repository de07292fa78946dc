package identity

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Errors of people's requests. Each is a complete sentence for them.
var (
	ErrNoUser        = errors.New("nobody can sign in to this account yet")
	ErrNoSession     = errors.New("the session has ended")
	ErrWrongPassword = errors.New("the email or the password is wrong")
	ErrLinkUsed      = errors.New("the link was used already or has expired")
)

// Identity stores users and sessions in the ledger's database. It is safe for
// concurrent use.
type Identity struct {
	ledger *ledger.Ledger
	store  store.Store
	hasher hasher
}

// New returns an Identity on the ledger's database.
func New(l *ledger.Ledger) *Identity {
	return &Identity{ledger: l, store: l.Store(), hasher: newHasher()}
}

// now returns the time of the database's clock, which replicas share.
func (i *Identity) now(ctx context.Context) (time.Time, error) { return i.ledger.Now(ctx) }

// write runs the statements that decide returns in a transaction.
func (i *Identity) write(ctx context.Context, decide func(now time.Time) []store.Statement) error {
	return i.store.Transact(ctx, store.Transaction{Decide: func(now time.Time) ([]store.Statement, error) {
		return decide(now), nil
	}})
}

// writeIf runs first, which returns the one row that it changes, and then the
// statements of rest, in one transaction. If first changed no row, nothing is
// changed and missing is returned. The statements of before run earlier.
func (i *Identity) writeIf(ctx context.Context, missing error, first store.Statement, rest func(now time.Time) []store.Statement, before ...store.Statement) error {
	changed, scan := false, first.Scan
	first.Scan = func(r store.Row) error {
		changed = true
		if scan == nil {
			return nil
		}
		return scan(r)
	}
	return i.store.Transact(ctx, store.Transaction{
		Reads: func() []store.Statement { changed = false; return append(slices.Clip(before), first) },
		Decide: func(now time.Time) ([]store.Statement, error) {
			if !changed {
				return nil, missing
			}
			return rest(now), nil
		},
	})
}

// timeOf converts a Unix time in nanoseconds.
func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }
