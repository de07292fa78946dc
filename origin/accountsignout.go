package main

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

type accountSignOutCmd struct{ accountFlag }

// Run ends all sessions of the owner.
func (c *accountSignOutCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if err := identity.New(l).EndSessions(ctx, a.ID, 0); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d signed out everywhere\n", a.ID)
		return nil
	})
}
