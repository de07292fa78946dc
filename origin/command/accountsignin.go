package command

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

type accountLinkCmd struct {
	accountFlag
	service.PublicURLFlag

	ResetFactors bool `help:"Remove the authenticator app, the recovery codes and all passkeys of an owner who has lost them, and end all sessions."`
}

// Run prints a link with which the account's owner signs in once. It is the first
// sign-in, and the way back in after a forgotten password: the service sends no
// mail.
func (c *accountLinkCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		public, err := c.At("8080")
		if err != nil {
			return err
		}
		users := identity.New(l)
		if c.ResetFactors {
			if err := users.ResetFactors(ctx, a.ID); err != nil {
				return err
			}
			fmt.Fprintln(std.out, "The authenticator app, the recovery codes and the passkeys are removed, and all sessions have ended.")
		}
		token, err := users.CreateLink(ctx, a.ID)
		if err != nil {
			return err
		}
		u, err := users.User(ctx, a.ID)
		if err != nil {
			return err
		}
		if u.Unproven {
			fmt.Fprintln(std.out, "The account was signed up for, and nothing shows by whom. Give the link to the owner of the email only: it ends the password and all else that was set up to sign in with.")
		}
		fmt.Fprintf(std.out, "This link signs in once, within %s; earlier links have ended: %s\n", words.Count(int(identity.LinkLife.Hours()), "hour"), public.JoinPath("link", token))
		return nil
	})
}

type accountSignOutCmd struct{ accountFlag }

// Run ends all sessions of the owner.
func (c *accountSignOutCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("account %d signed out everywhere", a.ID), identity.New(l).EndSessions(ctx, a.ID, 0)
	})
}
