package command

import (
	"bufio"
	"cmp"
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

type accountCmd struct {
	Create  accountCreateCmd  `cmd:"" help:"Create an account on a plan, optionally with limits of its own."`
	List    accountListCmd    `cmd:"" help:"List accounts with their terms and the points used this month."`
	Change  accountChangeCmd  `cmd:"" help:"Change an account's terms. They apply from its next request."`
	Link    accountLinkCmd    `cmd:"" help:"Print a one-time link with which an account's owner signs in to the dashboard and sets a password."`
	Suspend accountSuspendCmd `cmd:"" help:"Refuse all keys of an account. Requests that begin afterwards get 401."`
	Resume  accountResumeCmd  `cmd:"" help:"End a suspension."`
	Delete  accountDeleteCmd  `cmd:"" help:"Delete an account with everything that belongs to it."`
	Log     accountLogCmd     `cmd:"" help:"List who changed an account and its keys, newest first: the last 100 changes of each kind."`
	Webhook accountWebhookCmd `cmd:"" help:"Show, set, test or remove an account's webhook for 80 and 100 % of its points."`
	SignOut accountSignOutCmd `cmd:"" help:"End all sessions of an account's owner in the dashboard, on every server."`
}

// terms are the flags that set what an account may use.
type terms struct {
	Plan   string      `placeholder:"NAME" help:"free (1 request/s, 1,000 points a month; the default), pro (5/s, 200,000, overage), enterprise (unlimited), or another of 'plan list'."`
	Rate   *book.Limit `placeholder:"N" help:"Requests a second, in place of the plan's: a number or unlimited."`
	Points *book.Limit `placeholder:"N" help:"Points a month, in place of the plan's: a number or unlimited."`

	Overage *bool `negatable:"" help:"Allow points beyond the limit. Without this flag --points is a hard limit, and an account without --points follows its plan."`
}

type accountCreateCmd struct {
	service.DatabaseFlag
	terms

	Account string `required:"" aliases:"email" env:"ADDRSPEC_ACCOUNT,ADDRSPEC_EMAIL" placeholder:"E" help:"The owner's email, which names the account in every command (also accepted as --email)."`
}

func (c *accountCreateCmd) Run(ctx context.Context, std streams) error {
	return c.WithNewLedger(ctx, func(l *ledger.Ledger) error {
		a, err := l.CreateAccount(ctx, c.Account, book.Terms(c.terms))
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

func (c *accountListCmd) Run(ctx context.Context, std streams) error {
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		var rows [][]any
		used := int64(0)
		for after, more := int64(0), true; more; {
			page, err := l.Accounts(ctx, book.AccountPage{After: after, Search: c.Search})
			if err != nil {
				return err
			}
			for _, a := range page {
				rows = append(rows, []any{a.ID, a.Email, a.Plan, a.Rate, a.Points, a.Overage, a.Used, day(a.Created),
					day(a.Suspended)})
				used += a.Used
				after = a.ID
			}
			more = len(page) == book.MaxPage
		}
		header := []string{"id", "email", "plan", "rate", "points", "overage", "used", "created", "suspended"}
		return c.print(std.out, header, rows, "total", words.Count(len(rows), "account"), "", "", "", "", used)
	})
}

type accountChangeCmd struct {
	accountFlag
	terms

	Operator *bool `negatable:"" help:"Give or take the right to manage all accounts in the dashboard. By itself it leaves the terms as they are."`
}

func (accountChangeCmd) Help() string {
	return `Terms that are not given remain. With --plan they are the new plan's, except those
given beside it: --plan with the present plan removes the account's own limits.
--points without --overage is a hard limit.`
}

func (c *accountChangeCmd) Run(ctx context.Context, std streams) error {
	if c.terms == (terms{}) && c.Operator == nil {
		return service.UsageError{Err: errors.New("nothing to change: give --plan, --points, --rate, --overage, " +
			"--no-overage, --operator or --no-operator")}
	}
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		if c.Operator != nil {
			if err := identity.New(l).SetOperator(ctx, a.ID, *c.Operator); err != nil {
				return err
			}
			may := "may no longer"
			if *c.Operator {
				may = "may now"
			}
			fmt.Fprintf(std.out, "account %d %s manage all accounts in the dashboard\n", a.ID, may)
		}
		if c.terms == (terms{}) {
			return nil
		}
		changed := book.Terms(c.terms)
		if c.Plan == "" {
			changed = a.Own
			changed.Rate = cmp.Or(c.Rate, changed.Rate)
			changed.Overage = cmp.Or(c.Overage, changed.Overage)
			if c.Points != nil {
				changed.Points, changed.Overage = c.Points, c.Overage
			}
		}
		if err := l.ChangeTerms(ctx, a.ID, changed); err != nil {
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

func limitWords(l book.Limit, one string) string {
	if l == book.Unlimited {
		return "unlimited " + one + "s"
	}
	return words.Count(l, one)
}

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

type accountFlag struct {
	service.DatabaseFlag
	Account string `required:"" placeholder:"E" help:"The account's email."`
}

func (o *accountFlag) withAccount(ctx context.Context, do func(*ledger.Ledger, book.Account) error) error {
	return o.WithLedger(ctx, func(l *ledger.Ledger) error {
		a, err := accountOf(ctx, l, o.Account)
		if err != nil {
			return err
		}
		return do(l, a)
	})
}

// apply prints the sentence of a change of the account.
func (o *accountFlag) apply(ctx context.Context, std streams,
	do func(*ledger.Ledger, book.Account) (string, error)) error {
	return o.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		done, err := do(l, a)
		if err == nil {
			fmt.Fprintln(std.out, done)
		}
		return err
	})
}

func accountOf(ctx context.Context, l *ledger.Ledger, email string) (book.Account, error) {
	a, err := l.AccountByEmail(ctx, email)
	if errors.Is(err, book.ErrNoAccount) {
		err = fmt.Errorf("%w with this email; see addrspec account list", err)
	}
	return a, err
}

type accountSuspendCmd struct{ accountFlag }

func (c *accountSuspendCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("account %d suspended: requests that begin now get 401", a.ID), l.SuspendAccount(ctx, a.ID)
	})
}

type accountResumeCmd struct{ accountFlag }

func (c *accountResumeCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("account %d resumed: its keys are valid again", a.ID), l.ResumeAccount(ctx, a.ID)
	})
}

type accountDeleteCmd struct {
	accountFlag
	Yes bool `help:"Do not ask for the email again."`
}

func (accountDeleteCmd) Help() string {
	return `Deletes the account with its keys, policies, usage history, audit log, stored responses,
the person who signs in and the webhook. It cannot be undone. The service may keep
running: requests that begin afterwards get 401. If the command is interrupted,
the account remains suspended, without valid keys; run it again.`
}

func (c *accountDeleteCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		if !c.Yes {
			fmt.Fprintf(std.err, "This deletes account %d with all its keys and its history, and cannot be "+
				"undone.\nType its email to delete it: ", a.ID)
			const longest = 1024
			line, err := bufio.NewReader(io.LimitReader(std.in, longest)).ReadString('\n')
			if err != nil && err != io.EOF {
				return "", err
			}
			if !strings.EqualFold(strings.TrimSpace(line), a.Email) {
				return "", errors.New("that is not the account's email; nothing was deleted (give --yes to delete " +
					"without the question)")
			}
		}
		return fmt.Sprintf("account %d deleted", a.ID), l.DeleteAccount(ctx, a.ID)
	})
}

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
			fmt.Fprintln(std.out, "The authenticator app, the recovery codes and the passkeys are removed, and all "+
				"sessions have ended.")
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
			fmt.Fprintln(std.out, "The account was signed up for, and nothing shows by whom. Give the link to the "+
				"owner of the email only: it ends the password and all else that was set up to sign in with.")
		}
		fmt.Fprintf(std.out, "This link signs in once, within %s; earlier links have ended: %s\n",
			words.Count(int(identity.LinkLife.Hours()), "hour"), public.JoinPath("link", token))
		return nil
	})
}

type accountSignOutCmd struct{ accountFlag }

func (c *accountSignOutCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("account %d signed out everywhere", a.ID), identity.New(l).EndSessions(ctx, a.ID, 0)
	})
}

type accountLogCmd struct {
	accountFlag
	tableFlag
}

func (c *accountLogCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		const all = 1 << 20 // because the ledger keeps 100 lines of each action
		lines, err := l.AuditLog(ctx, a.ID, 0, all)
		if err != nil {
			return err
		}
		var rows [][]any
		for _, line := range lines {
			rows = append(rows, []any{line.At.Format(time.RFC3339), line.Actor, line.Action, orNil(line.Subject)})
		}
		return c.print(std.out, []string{"at", "actor", "action", "subject"}, rows)
	})
}
