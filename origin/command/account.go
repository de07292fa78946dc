package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

// accountCmd has the commands for accounts.
type accountCmd struct {
	Create  accountCreateCmd  `cmd:"" help:"Create an account on a plan, optionally with limits of its own."`
	List    accountListCmd    `cmd:"" help:"List accounts with their terms and the points used this month."`
	Change  accountChangeCmd  `cmd:"" help:"Change an account's terms. They apply from its next request."`
	Link    accountLinkCmd    `cmd:"" help:"Print a one-time link with which an account's owner signs in to the dashboard and sets a password."`
	Suspend accountSuspendCmd `cmd:"" help:"Refuse all keys of an account. Requests that begin afterwards get 401."`
	Resume  accountResumeCmd  `cmd:"" help:"End a suspension."`
	Delete  accountDeleteCmd  `cmd:"" help:"Delete an account with everything that belongs to it."`
	Log     accountLogCmd     `cmd:"" help:"List who changed an account and its keys, newest first: the last 1,000 changes."`
	Webhook accountWebhookCmd `cmd:"" help:"Show, set, test or remove an account's webhook for 80 and 100 % of its points."`
	SignOut accountSignOutCmd `cmd:"" help:"End all sessions of an account's owner in the dashboard, on every server."`
}

// terms are the flags that set what an account may use.
type terms struct {
	Plan   string      `placeholder:"NAME" help:"free (1 request/s, 1,000 points a month; the default), pro (5/s, 200,000, overage), enterprise (unlimited), or another of 'plan list'."`
	Points *book.Limit `placeholder:"N" help:"Points a month, in place of the plan's: a number or unlimited."`
	Rate   *book.Limit `placeholder:"N" help:"Requests a second, in place of the plan's: a number or unlimited."`

	Overage *bool `negatable:"" help:"Allow points beyond the limit. Without this flag --points is a hard limit, and an account without --points follows its plan."`
}

func (t *terms) terms() book.Terms {
	return book.Terms{Plan: t.Plan, Rate: t.Rate, Points: t.Points, Overage: t.Overage}
}

type accountCreateCmd struct {
	service.DatabaseFlag
	terms

	Account string `required:"" aliases:"email" env:"ADDRSPEC_ACCOUNT,ADDRSPEC_EMAIL" placeholder:"E" help:"The owner's email, which names the account in every command (also accepted as --email)."`
}

// Run creates the account and prints its terms.
func (c *accountCreateCmd) Run(ctx context.Context, std streams) error {
	return c.WithNewLedger(ctx, func(l *ledger.Ledger) error {
		a, err := l.CreateAccount(ctx, c.Account, c.terms.terms())
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d created: %s\n", a.ID, describeTerms(a))
		return nil
	})
}

type accountListCmd struct {
	service.DatabaseFlag
	tableFlag
	Search string `placeholder:"TEXT" help:"List only accounts with this text in their email."`
}

// accountPage is how many accounts one query fetches.
const accountPage = 500

// Run lists all accounts.
func (c *accountListCmd) Run(ctx context.Context, std streams) error {
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		var rows [][]any
		used := int64(0)
		err := eachAccount(ctx, l, c.Search, func(a book.Account) error {
			rows = append(rows, accountRow(a))
			used += a.Used
			return nil
		})
		if err != nil {
			return err
		}
		count := words.Count(len(rows), "account")
		return c.print(std.out, []string{"id", "email", "plan", "rate", "points", "overage", "used", "created", "suspended"}, rows,
			text("total"), text(count), text(""), text(""), text(""), text(""), used)
	})
}

// eachAccount calls visit for every account with a text in its email, "" for all.
// It reads the accounts in pages.
func eachAccount(ctx context.Context, l *ledger.Ledger, search string, visit func(book.Account) error) error {
	for after, more := int64(0), true; more; {
		page, err := l.Accounts(ctx, book.AccountPage{After: after, Limit: accountPage, Search: search})
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

func accountRow(a book.Account) []any {
	return []any{a.ID, a.Email, a.Plan, a.Rate, a.Points, a.Overage, a.Used, day(a.Created), day(a.Suspended)}
}

type accountChangeCmd struct {
	accountFlag
	terms

	Operator *bool `negatable:"" help:"Give or take the right to manage all accounts in the dashboard. By itself it leaves the terms as they are."`
}

const accountChangeHelp = `Terms that are not given remain. With --plan they are the new plan's, except those
given beside it: --plan with the present plan removes the account's own limits.
--points without --overage is a hard limit.`

// Help returns the text that --help prints after the flags' summary.
func (accountChangeCmd) Help() string { return accountChangeHelp }

var errNoTerms = service.UsageError{Err: errors.New("nothing to change: give --plan, --points, --rate, --overage, --no-overage, --operator or --no-operator")}

// Run changes the account.
func (c *accountChangeCmd) Run(ctx context.Context, std streams) error {
	if c.terms == (terms{}) && c.Operator == nil {
		return errNoTerms
	}
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		if c.Operator != nil {
			if err := setOperator(ctx, std, l, a, *c.Operator); err != nil || c.terms == (terms{}) {
				return err
			}
		}
		if err := l.ChangeTerms(ctx, a.ID, c.changed(a.Own)); err != nil {
			return err
		}
		a, err := l.AccountByEmail(ctx, a.Email)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d changed: %s\n", a.ID, describeTerms(a))
		return nil
	})
}

// changed returns the new terms of an account that has own.
func (c *accountChangeCmd) changed(own book.Terms) book.Terms {
	if c.Plan != "" {
		return c.terms.terms()
	}
	if c.Rate != nil {
		own.Rate = c.Rate
	}
	if c.Points != nil {
		own.Points, own.Overage = c.Points, nil
	}
	if c.Overage != nil {
		own.Overage = c.Overage
	}
	return own
}

// setOperator gives or takes the right to manage all accounts.
func setOperator(ctx context.Context, std streams, l *ledger.Ledger, a book.Account, operator bool) error {
	if err := identity.New(l).SetOperator(ctx, a.ID, operator); err != nil {
		return err
	}
	may := "may no longer"
	if operator {
		may = "may now"
	}
	_, err := fmt.Fprintf(std.out, "account %d %s manage all accounts in the dashboard\n", a.ID, may)
	return err
}

// limitWords returns a limit with the noun for it.
func limitWords(l book.Limit, one string) string {
	if l == book.Unlimited {
		return "unlimited " + one + "s"
	}
	return words.Count(l, one)
}

// describeTerms returns the terms in force as text.
func describeTerms(a book.Account) string {
	text := fmt.Sprintf("plan %s, %s/s, %s a month", a.Plan, limitWords(a.Rate, "request"), limitWords(a.Points, "point"))
	switch {
	case a.Points == book.Unlimited:
		return text
	case a.Overage:
		return text + " and more (overage)"
	}
	return text + ", a hard limit"
}

// accountFlag names the account of a command.
type accountFlag struct {
	service.DatabaseFlag
	Account string `required:"" placeholder:"E" help:"The account's email."`
}

// withAccount calls do with the open ledger and the account.
func (o *accountFlag) withAccount(ctx context.Context, do func(*ledger.Ledger, book.Account) error) error {
	return o.WithLedger(ctx, func(l *ledger.Ledger) error {
		a, err := accountOf(ctx, l, o.Account)
		if err != nil {
			return err
		}
		return do(l, a)
	})
}

// accountOf returns the account with this email.
func accountOf(ctx context.Context, l *ledger.Ledger, email string) (book.Account, error) {
	a, err := l.AccountByEmail(ctx, email)
	if errors.Is(err, book.ErrNoAccount) {
		err = fmt.Errorf("%w with this email; see addrspec account list", err)
	}
	return a, err
}

type accountSuspendCmd struct{ accountFlag }

// Run suspends the account.
func (c *accountSuspendCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		if err := l.SuspendAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d suspended: requests that begin now get 401\n", a.ID)
		return nil
	})
}

type accountResumeCmd struct{ accountFlag }

// Run ends the suspension.
func (c *accountResumeCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		if err := l.ResumeAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d resumed: its keys are valid again\n", a.ID)
		return nil
	})
}

type accountDeleteCmd struct {
	accountFlag
	Yes bool `help:"Do not ask for the email again."`
}

const accountDeleteHelp = `Deletes the account with its keys, policies, usage history, audit log, stored responses,
the person who signs in and the webhook. It cannot be undone. The service may keep
running: requests that begin afterwards get 401. If the command is interrupted,
the account remains suspended, without valid keys; run it again.`

// Help returns the text that --help prints after the flags' summary.
func (accountDeleteCmd) Help() string { return accountDeleteHelp }

// Run deletes the account after the email was typed again.
func (c *accountDeleteCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		if !c.Yes {
			if err := confirm(std, a); err != nil {
				return err
			}
		}
		if err := l.DeleteAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d deleted\n", a.ID)
		return nil
	})
}

var errNotConfirmed = errors.New("that is not the account's email; nothing was deleted (give --yes to delete without the question)")

// confirm asks for the account's email and returns an error for any other reply.
func confirm(std streams, a book.Account) error {
	fmt.Fprintf(std.err, "This deletes account %d with all its keys and its history, and cannot be undone.\nType its email to delete it: ", a.ID)
	const longest = 1024
	line, err := bufio.NewReader(io.LimitReader(std.in, longest)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(line), a.Email) {
		return errNotConfirmed
	}
	return nil
}

type accountLogCmd struct {
	accountFlag
	tableFlag
}

// Run lists the audit log, newest first.
func (c *accountLogCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		var rows [][]any
		for before, more := int64(0), true; more; {
			page, err := l.AuditLog(ctx, a.ID, before, accountPage)
			if err != nil {
				return err
			}
			for _, line := range page {
				rows = append(rows, []any{text(line.At.Format(time.RFC3339)), line.Actor, line.Action, orDash(line.Subject)})
				before = line.ID
			}
			more = len(page) == accountPage
		}
		return c.print(std.out, []string{"at", "actor", "action", "subject"}, rows)
	})
}
