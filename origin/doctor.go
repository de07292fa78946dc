package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// doctorCmd checks each part of a deployment.
type doctorCmd struct {
	databaseFlag
	moduleFlags

	ListsURL   string        `name:"lists-url" placeholder:"URL" help:"The feed of serve's --lists-url, to check it, too. Needs --lists-key."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX look-up (${default})."`
}

// advice is what should be done soon. It does not change the exit code.
type advice struct{ error }

// errUnhealthy sets the exit code 1. The reasons have been printed.
var errUnhealthy = errors.New("some checks failed, see above")

// Run checks every part and prints a line for each, also after one has failed.
func (c *doctorCmd) Run(ctx context.Context, std streams) error {
	if err := checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime); err != nil {
		return usageError{err}
	}
	failed := false
	for _, part := range []struct {
		name  string
		check func(context.Context) (string, error)
	}{
		{"database", c.database}, {"clock", c.clock}, {"resolver", c.resolver}, {"module", c.module}, {"lists", c.lists}, {"feed", c.feed},
	} {
		detail, err := part.check(ctx)
		var later advice
		switch {
		case errors.As(err, &later):
			fmt.Fprintf(std.out, "%-9s ADVICE %v\n", part.name, later)
		case err != nil:
			failed = true
			fmt.Fprintf(std.out, "%-9s WRONG  %v\n", part.name, err)
		case detail != "":
			fmt.Fprintf(std.out, "%-9s ok     %s\n", part.name, detail)
		}
	}
	if failed {
		return errUnhealthy
	}
	return nil
}

// database opens the ledger, as it is, and reads the plans.
func (c *doctorCmd) database(ctx context.Context) (detail string, err error) {
	err = c.withLedger(ctx, func(l *ledger.Ledger) error {
		start := time.Now()
		plans, err := l.Plans(ctx)
		detail = fmt.Sprintf("%s answers in %s and has %d plans", c.redacted(), time.Since(start).Round(time.Microsecond), len(plans))
		return err
	})
	return detail, err
}

// earliest is when this was written. A clock before it is wrong, and would count
// points under a past month.
var earliest = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

func (c *doctorCmd) clock(context.Context) (string, error) {
	now := time.Now().UTC()
	if now.Before(earliest) {
		return "", fmt.Errorf("it is set to %s, before this program was built; start NTP", now.Format(time.DateTime))
	}
	return now.Format(time.DateTime) + " UTC", nil
}

func (c *doctorCmd) resolver(ctx context.Context) (string, error) {
	r, err := mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: 1})
	if err != nil {
		return "", err
	}
	defer r.Close()
	start := time.Now()
	if err := r.Probe(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("answers in %s", time.Since(start).Round(time.Microsecond)), nil
}

// withEngine calls do with the module running.
func (c *doctorCmd) withEngine(ctx context.Context, do func(*host.Engine) (string, error)) (string, error) {
	engine, err := c.engine(ctx)
	if err != nil {
		return "", err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	return do(engine)
}

// module checks an address with the module.
func (c *doctorCmd) module(ctx context.Context) (string, error) {
	return c.withEngine(ctx, func(engine *host.Engine) (string, error) {
		facts, err := engine.Check(ctx, nil, "postmaster@example.org", 0)
		if err != nil {
			return "", err
		}
		if !facts.Valid {
			return "", fmt.Errorf("%s rejects postmaster@example.org: rebuild it", c.source())
		}
		info := engine.View().Info()
		return fmt.Sprintf("engine %s, model %s", info.Engine, info.Model), nil
	})
}
