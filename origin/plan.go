package main

import (
	"context"
	"fmt"
	"os"

	"github.com/addrspec/addrspec/origin/ledger"
)

// planCmd has the commands for plans.
type planCmd struct {
	List planListCmd `cmd:"" help:"List the plans."`
	Load planLoadCmd `cmd:"" help:"Load the plans of a JSON file: add new ones, change those with a known name."`
}

type planListCmd struct {
	databaseFlag
	tableFlag
}

// Run lists the plans.
func (c *planListCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
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
	databaseFlag
	File string `arg:"" help:"A JSON array of objects with name, rate (requests a second), points (a month), overage and stored (bytes of answers stored for Idempotency-Keys); rate and points are numbers or \"unlimited\"."`
}

// Run stores the plans. New numbers apply to an account from its next request.
func (c *planLoadCmd) Run(ctx context.Context, std streams) error {
	return c.withLedger(ctx, func(l *ledger.Ledger) error {
		if err := storePlans(ctx, l, c.File); err != nil {
			return err
		}
		fmt.Fprintln(std.out, "plans loaded; see addrspec plan list")
		return nil
	})
}

// storePlans stores the plans of a file. Without a path it does nothing.
func storePlans(ctx context.Context, l *ledger.Ledger, path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	defer file.Close()
	plans, err := ledger.ParsePlans(file)
	if err != nil {
		return fmt.Errorf("plans of %s: %w", path, err)
	}
	return l.StorePlans(ctx, plans)
}
