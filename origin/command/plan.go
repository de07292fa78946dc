package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
)

type planCmd struct {
	List planListCmd `cmd:"" help:"List the plans."`
	Load planLoadCmd `cmd:"" help:"Load the plans of a JSON file: add new ones, change those with a known name."`
}

type planListCmd struct {
	service.DatabaseFlag
	tableFlag
}

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
		return c.print(std.out, []string{"name", "rate", "points", "overage", "stored bytes"}, rows)
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

type usageCmd struct {
	service.DatabaseFlag
	tableFlag

	Account string  `placeholder:"E" help:"The account's email (default: all accounts)."`
	First   dayFlag `placeholder:"DAY" help:"First day, UTC, such as 2026-11-01 (default: the first of this month)."`
	Last    dayFlag `placeholder:"DAY" help:"Last day, UTC (default: today)."`
}

type dayFlag struct{ book.Day }

func (d *dayFlag) UnmarshalText(text []byte) (err error) {
	d.Day, err = book.ParseDay(string(text))
	return err
}

// Run prints a row for each account, day and key, and in a table their sum. The
// points of a month's rows sum to the points charged in that month. A revoked key
// keeps its name; the history of a deleted account is deleted with it.
func (c *usageCmd) Run(ctx context.Context, std streams) error {
	now := time.Now().UTC()
	first := cmp.Or(c.First.Day, book.DayOf(now.AddDate(0, 0, 1-now.Day())))
	last := cmp.Or(c.Last.Day, book.DayOf(now))
	if last < first {
		return service.UsageError{Err: fmt.Errorf("the last day %s is before the first %s: give --first and --last",
			last, first)}
	}
	return c.WithLedger(ctx, func(l *ledger.Ledger) error {
		account := int64(0) // all
		if c.Account != "" {
			a, err := accountOf(ctx, l, c.Account)
			if err != nil {
				return err
			}
			account = a.ID
		}
		days, err := l.UsageHistory(ctx, account, first, last)
		if err != nil {
			return err
		}
		counts := func(d book.Tally) []any {
			return []any{d.Points, d.Requests, d.Errors,
				d.Valid, d.Invalid, d.Disposable, d.Public, d.Relay, d.Role, d.Gibberish, d.Typo, d.LookupErrors}
		}
		var rows [][]any
		var total book.Tally
		for _, d := range days {
			rows = append(rows, append([]any{d.Account, orNil(d.Email), d.Day.String(), d.Key.ID, orNil(d.Key.Name)},
				counts(d.Tally)...))
			total = total.Plus(d.Tally)
		}
		return c.print(std.out, []string{"account", "email", "day", "key", "name", "points", "requests", "errors",
			"valid", "invalid", "disposable", "public", "relay", "role", "gibberish", "typo", "lookup_errors"},
			rows, append([]any{"total", "", "", "", ""}, counts(total)...)...)
	})
}
