package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

type accountResetCmd struct {
	databaseFlag
	Account string `placeholder:"E" required:"" xor:"which" help:"The account's email."`
	All     bool   `required:"" xor:"which" help:"All accounts."`
}

const accountResetHelp = `An account's month only advances, so a clock that was ahead for a while leaves it
without a refill until that month has come. Mend the clock first. Services may go
on running. The month is set to the present one of the database's clock, and the
token bucket is filled. Points of an account that is in the present month already
stay; otherwise they are counted anew from the usage history, in which points that
were recorded under days to come move to today. Keys with a budget are reset with
their account.`

// Help explains what the one-line help has no room for.
func (accountResetCmd) Help() string { return accountResetHelp }

// Run resets the account, or one after the other.
func (c *accountResetCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
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
		return eachAccount(ctx, l, func(a ledger.Account) error { return resetAccount(ctx, l, a, std.out) })
	})
}

// checkClock refuses to go by a clock that is wrong itself.
func checkClock(ctx context.Context, l *ledger.Ledger) error {
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	if now.Before(earliest) {
		return fmt.Errorf("the database's clock is set to %s, before this program was made: mend the clock first", now.Format(time.DateTime))
	}
	if apart := time.Since(now).Abs(); apart > 24*time.Hour {
		return fmt.Errorf("the database's clock is set to %s and this machine's to %s: mend the one that is wrong first",
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
	fmt.Fprintf(out, "account %d reset: %s\n", a.ID, resetOf(r))
	return nil
}

// resetOf is what a reset did, in words.
func resetOf(r ledger.Reset) string {
	const form = "2006-01"
	month := fmt.Sprintf("it was in %s and is in %s now", r.Was.Format(form), r.Is.Format(form))
	switch {
	case r.Was.Equal(r.Is):
		month = "its month was right, " + r.Is.Format(form)
	case r.Was.Year() == 0:
		month = fmt.Sprintf("it was never used and is in %s now", r.Is.Format(form))
	}
	points := fmt.Sprintf("%d points used in it", r.Used)
	if r.Moved > 0 {
		points += fmt.Sprintf(", %d of them moved to today from days to come", r.Moved)
	}
	return month + "; " + points + "; its bucket is full"
}
