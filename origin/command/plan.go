package command

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
)

// planCmd has the commands for plans.
type planCmd struct {
	List planListCmd `cmd:"" help:"List the plans."`
	Load planLoadCmd `cmd:"" help:"Load the plans of a JSON file: add new ones, change those with a known name."`
}

type planListCmd struct {
	service.DatabaseFlag
	tableFlag
}

// Run lists the plans.
func (c *planListCmd) Run(ctx context.Context, std streams) error {
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		plans, err := l.Plans(ctx)
		if err != nil {
			return err
		}
		var rows [][]any
		for _, p := range plans {
			rows = append(rows, []any{p.Name, p.Rate, p.Points, p.Overage, p.Stored})
		}
		return c.print(std.out, []string{"name", "rate", "points", "overage", "stored"}, rows)
	})
}

type planLoadCmd struct {
	service.DatabaseFlag
	File string `arg:"" help:"A JSON array of objects with name, rate (requests a second), points (a month), overage and stored (bytes of responses stored for Idempotency-Keys); rate and points are numbers or \"unlimited\"."`
}

// Run stores the plans. New numbers apply to an account from its next request.
func (c *planLoadCmd) Run(ctx context.Context, std streams) error {
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		if err := service.StorePlans(ctx, l, c.File); err != nil {
			return err
		}
		fmt.Fprintln(std.out, "plans loaded; see addrspec plan list")
		return nil
	})
}

// usageCmd prints the usage history.
type usageCmd struct {
	service.DatabaseFlag
	tableFlag

	Account string `placeholder:"E" help:"The account's email (default: all accounts)."`
	First   string `placeholder:"DAY" help:"First day, UTC, such as 2026-11-01 (default: the first of this month)."`
	Last    string `placeholder:"DAY" help:"Last day, UTC (default: today)."`
}

// Run prints a row for each account, day and key, and in a table their sum. The
// points of a month's rows sum to the points charged in that month. A revoked key
// keeps its name; the history of a deleted account is deleted with it.
func (c *usageCmd) Run(ctx context.Context, std streams) error {
	first, last, err := c.days(time.Now())
	if err != nil {
		return service.UsageError{Err: err}
	}
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		account, err := c.account(ctx, l)
		if err != nil {
			return err
		}
		days, err := l.UsageHistory(ctx, account, first, last)
		if err != nil {
			return err
		}
		var rows [][]any
		var total book.Tally
		for _, d := range days {
			rows = append(rows, append([]any{d.Account, orDash(d.Email), d.Day, d.Key.ID, orDash(d.Key.Name)}, tallyCells(d.Tally)...))
			total = total.Plus(d.Tally)
		}
		return c.print(std.out, usageHeader, rows, append([]any{text("total"), text(""), text(""), text(""), text("")}, tallyCells(total)...)...)
	})
}

var usageHeader = []string{"account", "email", "day", "key", "name", "points", "requests", "errors",
	"valid", "invalid", "disposable", "public", "relay", "role", "gibberish", "typo", "lookup_errors"}

// tallyCells returns the counts in the order of usageHeader.
func tallyCells(d book.Tally) []any {
	return []any{d.Points, d.Requests, d.Errors,
		d.Valid, d.Invalid, d.Disposable, d.Public, d.Relay, d.Role, d.Gibberish, d.Typo, d.LookupErrors}
}

// days parses the period. It defaults to this month up to today.
func (c *usageCmd) days(now time.Time) (first, last book.Day, err error) {
	now = now.UTC()
	first, last = book.DayOf(now.AddDate(0, 0, 1-now.Day())), book.DayOf(now)
	if c.First != "" {
		if first, err = book.ParseDay(c.First); err != nil {
			return 0, 0, err
		}
	}
	if c.Last != "" {
		if last, err = book.ParseDay(c.Last); err != nil {
			return 0, 0, err
		}
	}
	if last < first {
		return 0, 0, fmt.Errorf("the last day %s is before the first %s: give --first and --last", last, first)
	}
	return first, last, nil
}

// account returns the ID of the account given, or 0 for all accounts.
func (c *usageCmd) account(ctx context.Context, l *ledger.Ledger) (int64, error) {
	if c.Account == "" {
		return 0, nil
	}
	a, err := accountOf(ctx, l, c.Account)
	return a.ID, err
}
