package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/addrspec/addrspec/origin/ledger"
)

// accountCmd keeps accounts.
type accountCmd struct {
	Create accountCreateCmd `cmd:"" help:"Create an account, on a plan or with numbers of its own."`
}

type accountCreateCmd struct {
	databaseFlag

	Email  string        `required:"" placeholder:"E" help:"Whose account; it also names the account in other commands."`
	Plan   string        `placeholder:"NAME" help:"free (1 request/s, 1,000 points a month; the default), pro (5/s, 200,000, overage), enterprise (unlimited), or a plan of --plans."`
	Points *ledger.Limit `placeholder:"N" help:"Points a month instead of the plan's: a number or unlimited."`
	Rate   *ledger.Limit `placeholder:"N" help:"Requests a second instead of the plan's: a number or unlimited."`
}

// Run creates the account and tells its terms.
func (c *accountCreateCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
		a, err := l.CreateAccount(ctx, c.Email, ledger.Terms{Plan: c.Plan, Rate: c.Rate, Points: c.Points})
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d created: plan %s, %s requests/s, %s points a month\n", a.ID, a.Plan, a.Rate, a.Points)
		return nil
	})
}

// ofAccount names the account a command is about.
type ofAccount struct {
	databaseFlag
	Account string `required:"" placeholder:"E" help:"The account's email."`
}

// withAccount runs do on the account.
func (o *ofAccount) withAccount(ctx context.Context, do func(*ledger.Ledger, ledger.Account) error) error {
	return o.withLedger(ctx, func(l *ledger.Ledger) error {
		a, err := l.AccountByEmail(ctx, o.Account)
		if errors.Is(err, ledger.ErrNoAccount) {
			return fmt.Errorf("%w with this email; see addrspec account create", err)
		}
		if err != nil {
			return err
		}
		return do(l, a)
	})
}
