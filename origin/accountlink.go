package main

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

type accountLinkCmd struct {
	accountFlag
	publicURLFlag
}

// Run prints a link with which the account's owner signs in once. It is the first
// sign-in, and the way back in after a forgotten password: the service sends no
// mail.
func (c *accountLinkCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		public, err := c.publicURL("8080")
		if err != nil {
			return err
		}
		token, err := identity.New(l).CreateLink(ctx, a.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "This link signs in once, within %s; earlier links have ended: %s\n", "24 hours", public.JoinPath("link", token))
		return nil
	})
}
