package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// doctorCmd checks each part of a deployment.
type doctorCmd struct {
	databaseFlag
	moduleFlags

	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX look-up (${default})."`
}

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
		{"database", c.database}, {"clock", c.clock}, {"resolver", c.resolver}, {"module", c.module}, {"lists", c.lists},
	} {
		detail, err := part.check(ctx)
		if err != nil {
			failed = true
			fmt.Fprintf(std.out, "%-9s WRONG  %v\n", part.name, err)
			continue
		}
		fmt.Fprintf(std.out, "%-9s ok     %s\n", part.name, detail)
	}
	if failed {
		return errUnhealthy
	}
	return nil
}

// database opens the ledger, which migrates it, and reads the plans.
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

// stale is the age at which lists miss much: disposable domains live for weeks.
const stale = 180 * 24 * time.Hour

// lists checks the age of the lists in use.
func (c *doctorCmd) lists(ctx context.Context) (string, error) {
	return c.withEngine(ctx, func(engine *host.Engine) (string, error) {
		return checkListsAge(engine.View().Info().Lists, time.Now())
	})
}

// checkListsAge returns an error for lists whose version, which begins with the
// day their sources were read, is too old.
func checkListsAge(version string, now time.Time) (string, error) {
	day, _, _ := strings.Cut(version, "-")
	read, err := time.Parse("2006.01.02", day)
	if err != nil {
		return "", fmt.Errorf("version %q does not begin with a date: pack the lists again", version)
	}
	if age := now.Sub(read); age > stale {
		return "", fmt.Errorf("%s is %d days old: run go run ./lists/refresh, pack the lists, and start with --lists", version, int(age.Hours()/24))
	}
	return version, nil
}
