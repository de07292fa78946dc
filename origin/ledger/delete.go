package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An account is deleted in steps, each a short transaction, since commit groups
// of all accounts wait while one holds a lock that they need:
//
//  1. suspend the account and delete its secrets: no request gets a 200 any more,
//     and a charge under way is refused, or was committed before
//  2. delete the person's rows, without a lock of the account's row
//  3. delete answers, usage and keys in slices
//  4. delete the account, with rows that were added meanwhile
//
// If the process ends in between, the account remains suspended and has no
// secrets; another call continues. A commit group that waited for the last step
// finds no account, refuses its charges, and drops its tokens, tallies and voids.

const (
	deleteRows  = 1000 // answers or rows of usage in a slice
	deleteKeys  = 100  // keys in a slice
	deleteTries = 20   // of a transaction while others hold locks
	deletePause = 50 * time.Millisecond
)

// DeleteAccount deletes an account and all rows that belong to it, in every table.
// It returns ErrNoAccount if there is no such account. No line of the audit log
// remains, so the deletion is logged.
func (l *Ledger) DeleteAccount(ctx context.Context, account int64) error {
	steps := []func(context.Context, int64) error{l.closeAccount, l.deletePerson, l.deleteSlices, l.deleteRest}
	for _, step := range steps {
		if err := step(ctx, account); err != nil {
			return err
		}
	}
	l.log.Info("an account was deleted", "account", account, "actor", string(actorOf(ctx)))
	return nil
}

// closeAccount suspends an account and deletes its secrets.
func (l *Ledger) closeAccount(ctx context.Context, account int64) error {
	return l.changeAccount(ctx, account, func(_ Account, now time.Time) (change, error) {
		return changed("account.delete", "",
			store.Statement{Name: "suspend_account", Args: []any{account, now.UnixNano()}},
			store.Statement{Name: "drop_secrets", Args: []any{account}}), nil
	})
}

// personTables are the tables with rows of the person who signs in to an account,
// and of the account's webhook: those that refer to others first.
var personTables = []string{"sessions", "links", "recovery_codes", "passkeys", "identities", "user", "deliveries", "webhook"}

func (l *Ledger) deletePerson(ctx context.Context, account int64) error {
	return l.persist(ctx, nil, func() []store.Statement { return dropAll(account, personTables) })
}

// dropAll returns the statements that delete an account's rows of these tables.
func dropAll(account int64, tables []string) (list []store.Statement) {
	for _, table := range tables {
		list = append(list, store.Statement{Name: "drop_" + table, Args: []any{account}})
	}
	return list
}

// deleteSlices deletes what an account may have much of.
func (l *Ledger) deleteSlices(ctx context.Context, account int64) error {
	for _, slice := range []func(*int) []store.Statement{
		func(n *int) []store.Statement {
			return []store.Statement{dropSlice("drop_answers", account, deleteRows, n)}
		},
		func(n *int) []store.Statement {
			return []store.Statement{dropSlice("drop_usage", account, deleteRows, n)}
		},
		func(n *int) []store.Statement { return dropKeys(account, n) },
	} {
		for deleted := 1; deleted > 0; {
			err := l.persist(ctx, func() []store.Statement { return []store.Statement{lockAccount(account)} },
				func() []store.Statement { deleted = 0; return slice(&deleted) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dropSlice returns a statement that deletes up to size rows and counts them in n.
func dropSlice(name string, account int64, size int, n *int) store.Statement {
	return store.Statement{Name: name, Args: []any{account, size}, Scan: func(store.Row) error { *n++; return nil }}
}

// dropKeys returns the statements that delete a slice of keys with the rows that
// refer to them.
func dropKeys(account int64, n *int) []store.Statement {
	args := []any{account, deleteKeys}
	return []store.Statement{
		{Name: "drop_usage_of_keys", Args: args},
		{Name: "drop_secrets_of_keys", Args: args},
		dropSlice("drop_keys", account, deleteKeys, n),
	}
}

// deleteRest deletes the account's row, and rows that were added since the
// earlier steps. It locks the row alone: nothing that refers to it can be added
// meanwhile.
func (l *Ledger) deleteRest(ctx context.Context, account int64) error {
	lock := func() []store.Statement {
		return []store.Statement{{Name: "limit_lock_wait"}, {Name: "lock_account_alone", Args: []any{account}}}
	}
	var n int
	return l.persist(ctx, lock, func() []store.Statement {
		list := append(dropAll(account, personTables), store.Statement{Name: "drop_audit", Args: []any{account}},
			dropSlice("drop_answers", account, deleteRows, &n), dropSlice("drop_usage", account, deleteRows, &n))
		return append(append(list, dropKeys(account, &n)...), store.Statement{Name: "drop_account", Args: []any{account}})
	})
}

// persist runs a transaction again if it fails, since another one may hold a lock
// that it needs, or have added a row meanwhile.
func (l *Ledger) persist(ctx context.Context, reads, writes func() []store.Statement) (err error) {
	for range deleteTries {
		err = l.transact(ctx, reads, func(time.Time) ([]store.Statement, error) { return writes(), nil })
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(deletePause):
		}
	}
	return err
}
