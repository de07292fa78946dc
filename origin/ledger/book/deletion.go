package book

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// How much one transaction of a deletion deletes, because charges of all accounts may wait
// for it.
const (
	deleteRows = 500 // idempotency records or rows of usage
	deleteKeys = 100 // keys, with what refers to them
)

// DeleteAccount deletes an account and all rows that belong to it, in every table. It returns
// ErrNoAccount if there is no such account, and ErrSuspended to the owner of a suspended one,
// who could sign up again. No line of the audit log remains, so the deletion is logged.
//
// The first transaction suspends the account and deletes its secrets, its user and its webhook:
// no request gets a 200 and nobody signs in from then on, even if the rest fails. Another call
// then goes on with the rows that are left; the owner must ask an operator for it.
func (b *Book) DeleteAccount(ctx context.Context, account int64) error {
	err := b.changeAccount(ctx, account, func(a Account, now time.Time) ([]store.Statement, error) {
		return Audit(ctx, account, now, "account.delete", "",
			statement("suspend_account", account, now.UnixNano()), statement("drop_secrets", account),
			statement("drop_user", account), statement("delete_webhook", account)), ownerMay(ctx, !a.Suspended.IsZero())
	})
	if err != nil {
		return err
	}
	lock := func() []store.Statement { return []store.Statement{lockAccount(account)} }
	for _, slice := range []store.Statement{
		statement("drop_answers", account, deleteRows), statement("drop_usage", account, deleteRows),
		statement("drop_keys", account, deleteKeys), statement("drop_account", account),
	} {
		more := true
		slice.Scan = func(store.Row) error { more = true; return nil }
		for more {
			err := b.transact(ctx, lock, func(time.Time) ([]store.Statement, error) {
				more = false
				return []store.Statement{slice}, nil
			})
			if err != nil {
				return err
			}
		}
	}
	b.log.Info("an account was deleted", "account", account, "actor", string(actorOf(ctx)))
	return nil
}
