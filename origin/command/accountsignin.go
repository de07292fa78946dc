package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/service"
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
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		public, err := c.At("8080")
		if err != nil {
			return err
		}
		if c.ResetFactors {
			if err := resetFactors(ctx, std, l, a); err != nil {
				return err
			}
		}
		users := identity.New(l)
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

type accountResetCmd struct {
	service.DatabaseFlag
	Account string `placeholder:"E" required:"" xor:"which" help:"The account's email."`
	All     bool   `required:"" xor:"which" help:"Reset all accounts."`
}

const accountResetHelp = `An account's month only advances. After a clock was ahead for a while, the account
therefore gets no refill until that month begins. Correct the clock first; the
service may keep running. The command sets the month to the current one of the
database's clock and fills the token bucket. If the account's month was correct,
its points do not change. Otherwise they are counted again from the usage history,
after points recorded under future days have been moved to today. Keys with a
budget are reset with their account.`

// Help returns the text that --help prints after the flags' summary.
func (accountResetCmd) Help() string { return accountResetHelp }

// Run resets one account or, one after another, all of them.
func (c *accountResetCmd) Run(ctx context.Context, std streams) error {
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		if err := checkClock(ctx, l); err != nil {
			return err
		}
		if !c.All {
			a, err := accountOf(ctx, l, c.Account)
			if err != nil {
				return err
			}
			return resetAccount(ctx, l, a, std.out)
		}
		return eachAccount(ctx, l, "", func(a ledger.Account) error { return resetAccount(ctx, l, a, std.out) })
	})
}

// checkClock returns an error if the database's clock is itself wrong: a reset
// would then do more damage.
func checkClock(ctx context.Context, l *ledger.Ledger) error {
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	if now.Before(earliest) {
		return fmt.Errorf("the database's clock is set to %s, before this program was built: correct the clock first", now.Format(time.DateTime))
	}
	if apart := time.Since(now).Abs(); apart > 24*time.Hour {
		return fmt.Errorf("the database's clock is set to %s and this machine's to %s: correct the wrong one first",
			now.Format(time.DateTime), time.Now().UTC().Format(time.DateTime))
	}
	return nil
}

func resetAccount(ctx context.Context, l *ledger.Ledger, a ledger.Account, out io.Writer) error {
	r, err := l.ResetAccount(ctx, a.ID)
	if errors.Is(err, ledger.ErrNoAccount) {
		return nil // deleted since it was listed
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "account %d reset: %s\n", a.ID, describeReset(r))
	return nil
}

// describeReset returns what a reset did as text.
func describeReset(r ledger.Reset) string {
	const form = "2006-01"
	month := fmt.Sprintf("its month was %s and is now %s", r.Was.Format(form), r.Is.Format(form))
	switch {
	case r.Was.Equal(r.Is):
		month = "its month was correct, " + r.Is.Format(form)
	case r.Was.Year() == 0:
		month = fmt.Sprintf("it was never used; its month is now %s", r.Is.Format(form))
	}
	points := output.Quantity(r.Used, "point", "points") + " used this month"
	if r.Moved > 0 {
		points += fmt.Sprintf(", %d of them moved from future days to today", r.Moved)
	}
	return month + "; " + points + "; its bucket is full"
}

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
