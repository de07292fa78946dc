package main

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// keyCmd has the commands for API keys.
type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key and print its secret, which is shown only this once."`
	List   keyListCmd   `cmd:"" help:"List an account's keys, without their secrets."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key. Requests that begin afterwards get 401."`
}

type keyCreateCmd struct {
	accountFlag
	Name string `required:"" placeholder:"N" help:"What the key is for."`
}

// Run creates the key. The secret is the last word of the output.
func (c *keyCreateCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		secret, key, err := l.CreateKey(ctx, a.ID, c.Name, ledger.KeyTerms{})
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "key %d created; store its secret, it is not shown again: %s\n", key.ID, secret)
		return nil
	})
}

type keyListCmd struct {
	accountFlag
	tableFlag
}

// Run lists the keys, including revoked ones.
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

// A day is a date in a table; the zero time is a dash.
type day time.Time

func (d day) String() string {
	if t := time.Time(d); !t.IsZero() {
		return t.Format(time.DateOnly)
	}
	return "-"
}

type keyRevokeCmd struct {
	accountFlag
	ID int64 `arg:"" help:"The key's number in 'key list'."`
}

// Run revokes the key.
func (c *keyRevokeCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if err := l.RevokeKey(ctx, a.ID, c.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "key %d revoked\n", c.ID)
		return nil
	})
}
