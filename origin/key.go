package main

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// keyCmd has the commands for API keys.
type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key and print its secret, which is shown this once only."`
	List   keyListCmd   `cmd:"" help:"List an account's keys, without their secrets."`
	Revoke keyRevokeCmd `cmd:"" help:"Shut a key out, from the next request on."`
}

type keyCreateCmd struct {
	ofAccount
	Name string `required:"" placeholder:"N" help:"What the key is for."`
}

// Run prints the secret as the last word.
func (c *keyCreateCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		secret, key, err := l.CreateKey(ctx, a.ID, c.Name, ledger.KeyTerms{})
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "key %d created; keep its secret, it is not shown again: %s\n", key.ID, secret)
		return nil
	})
}

type keyListCmd struct {
	ofAccount
	asTable
}

// Run lists the keys, revoked ones too.
func (c *keyListCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		keys, err := l.ListKeys(ctx, a.ID)
		if err != nil {
			return err
		}
		var rows [][]any
		for _, k := range keys {
			rows = append(rows, []any{k.ID, k.Name, k.Hint, day(k.Created), day(k.Revoked)})
		}
		return c.print(std.out, []string{"id", "name", "begins", "created", "revoked"}, rows)
	})
}

// A day is a date in a table; one that never was is a dash.
type day time.Time

func (d day) String() string {
	if t := time.Time(d); !t.IsZero() {
		return t.Format(time.DateOnly)
	}
	return "-"
}

type keyRevokeCmd struct {
	ofAccount
	ID int64 `arg:"" help:"The key's number in 'key list'."`
}

// Run revokes the key.
func (c *keyRevokeCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if err := l.RevokeKey(ctx, a.ID, c.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "key %d is revoked\n", c.ID)
		return nil
	})
}
