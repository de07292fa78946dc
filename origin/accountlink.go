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

	ResetFactors bool `help:"Remove the authenticator app, the recovery codes and all passkeys of an owner who has lost them, and end all sessions."`
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
		if c.ResetFactors {
			if err := resetFactors(ctx, std, l, a); err != nil {
				return err
			}
		}
		token, err := identity.New(l).CreateLink(ctx, a.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "This link signs in once, within %d hours; earlier links have ended: %s\n", int(identity.LinkLife.Hours()), public.JoinPath("link", token))
		return nil
	})
}

// resetFactors removes the second factors of an account's owner.
func resetFactors(ctx context.Context, std streams, l *ledger.Ledger, a ledger.Account) error {
	if err := identity.New(l).ResetFactors(ctx, a.ID); err != nil {
		return err
	}
	_, err := fmt.Fprintln(std.out, "The authenticator app, the recovery codes and the passkeys are removed, and all sessions have ended.")
	return err
}
