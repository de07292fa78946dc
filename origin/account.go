package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/addrspec/addrspec/origin/ledger"
)

// accountCmd has the commands for accounts.
type accountCmd struct {
	Create accountCreateCmd `cmd:"" help:"Create an account, on a plan or with numbers of its own."`
	List   accountListCmd   `cmd:"" help:"List accounts with their terms and this month's points."`
	Change accountChangeCmd `cmd:"" help:"Put an account on other terms, from its next request on."`
	Reset  accountResetCmd  `cmd:"" help:"Put an account back into the present month, after the database's clock was wrong."`
}

// terms are what an account may use.
type terms struct {
	Plan   string        `placeholder:"NAME" help:"free (1 request/s, 1,000 points a month; the default), pro (5/s, 200,000, overage), enterprise (unlimited), or another of 'plan list'."`
	Points *ledger.Limit `placeholder:"N" help:"Points a month instead of the plan's: a number or unlimited."`
	Rate   *ledger.Limit `placeholder:"N" help:"Requests a second instead of the plan's: a number or unlimited."`

	Overage *bool `negatable:"" help:"Points beyond the limit may be used; without it, --points is a hard limit and an account without --points has the plan's rule."`
}

func (t *terms) terms() ledger.Terms {
	return ledger.Terms{Plan: t.Plan, Rate: t.Rate, Points: t.Points, Overage: t.Overage}
}

type accountCreateCmd struct {
	databaseFlag
	terms

	Email string `required:"" placeholder:"E" help:"Whose account; it also names the account in other commands."`
}

// Run creates the account and prints its terms.
func (c *accountCreateCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
		a, err := l.CreateAccount(ctx, c.Email, c.terms.terms())
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d created: %s\n", a.ID, termsOf(a))
		return nil
	})
}

type accountListCmd struct {
	databaseFlag
	asTable
}

// accountPage is how many accounts one query fetches.
const accountPage = 500

// Run lists all accounts.
func (c *accountListCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
		var rows [][]any
		err := eachAccount(ctx, l, func(a ledger.Account) error {
			rows = append(rows, accountRow(a))
			return nil
		})
		if err != nil {
			return err
		}
		return c.print(std.out, []string{"id", "email", "plan", "rate", "points", "overage", "used", "created"}, rows)
	})
}

// eachAccount visits all accounts, page by page.
func eachAccount(ctx context.Context, l *ledger.Ledger, visit func(ledger.Account) error) error {
	for after, more := int64(0), true; more; {
		page, err := l.Accounts(ctx, after, accountPage)
		if err != nil {
			return err
		}
		for _, a := range page {
			if err := visit(a); err != nil {
				return err
			}
			after = a.ID
		}
		more = len(page) == accountPage
	}
	return nil
}

func accountRow(a ledger.Account) []any {
	return []any{a.ID, a.Email, a.Plan, a.Rate, a.Points, a.Overage, a.Used, day(a.Created)}
}

type accountChangeCmd struct {
	ofAccount
	terms
}

// Run changes the terms; what is not given is the plan's from now on.
func (c *accountChangeCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		t := c.terms.terms()
		if t.Plan == "" {
			t.Plan = a.Plan
		}
		if err := l.ChangeTerms(ctx, a.ID, t); err != nil {
			return err
		}
		a, err := l.AccountByEmail(ctx, a.Email)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d changed: %s\n", a.ID, termsOf(a))
		return nil
	})
}

// termsOf are the terms in force, in words.
func termsOf(a ledger.Account) string {
	text := fmt.Sprintf("plan %s, %s requests/s, %s points a month", a.Plan, a.Rate, a.Points)
	switch {
	case a.Points == ledger.Unlimited:
		return text
	case a.Overage:
		return text + " and more (overage)"
	}
	return text + ", a hard limit"
}

// ofAccount names the account that a command is about.
type ofAccount struct {
	databaseFlag
	Account string `required:"" placeholder:"E" help:"The account's email."`
}

// withAccount runs do on the account.
func (o *ofAccount) withAccount(ctx context.Context, do func(*ledger.Ledger, ledger.Account) error) error {
	return o.withLedger(ctx, func(l *ledger.Ledger) error {
		a, err := accountOf(ctx, l, o.Account)
		if err != nil {
			return err
		}
		return do(l, a)
	})
}

// accountOf finds an account by its email.
func accountOf(ctx context.Context, l *ledger.Ledger, email string) (ledger.Account, error) {
	a, err := l.AccountByEmail(ctx, email)
	if errors.Is(err, ledger.ErrNoAccount) {
		err = fmt.Errorf("%w with this email; see addrspec account list", err)
	}
	return a, err
}
