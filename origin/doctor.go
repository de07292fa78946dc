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

// doctorCmd examines a deployment part by part.
type doctorCmd struct {
	databaseFlag
	moduleFlags

	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to ask (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"How long one MX look-up may take (${default})."`
}

// errUnwell makes the exit code 1; the problems have been printed.
var errUnwell = errors.New("something is wrong, see above")

// Run examines every part, also after one that is unwell.
func (c *doctorCmd) Run(ctx context.Context, std streams) error {
	if err := checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime); err != nil {
		return usageError{err}
	}
	unwell := false
	for _, part := range []struct {
		name    string
		examine func(context.Context) (string, error)
	}{
		{"database", c.database}, {"clock", c.clock}, {"resolver", c.resolver}, {"module", c.module}, {"lists", c.lists},
	} {
		finding, err := part.examine(ctx)
		if err != nil {
			unwell = true
			fmt.Fprintf(std.out, "%-9s WRONG  %v\n", part.name, err)
			continue
		}
		fmt.Fprintf(std.out, "%-9s ok     %s\n", part.name, finding)
	}
	if unwell {
		return errUnwell
	}
	return nil
}

// database opens the ledger, which migrates it, and reads from it.
func (c *doctorCmd) database(ctx context.Context) (finding string, err error) {
	err = c.withLedger(ctx, func(l *ledger.Ledger) error {
		start := time.Now()
		plans, err := l.Plans(ctx)
		finding = fmt.Sprintf("%s answers in %s and holds %d plans", c.redacted(), time.Since(start).Round(time.Microsecond), len(plans))
		return err
	})
	return finding, err
}

// earliest is when this was written: a clock before it is wrong, and a month's
// points would be counted under a month long gone.
var earliest = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

func (c *doctorCmd) clock(context.Context) (string, error) {
	now := time.Now().UTC()
	if now.Before(earliest) {
		return "", fmt.Errorf("it is set to %s, before this program was made; start NTP", now.Format(time.DateTime))
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

// withEngine starts the module and ends it after do.
func (c *doctorCmd) withEngine(ctx context.Context, do func(*host.Engine) (string, error)) (string, error) {
	engine, err := c.engine(ctx)
	if err != nil {
		return "", err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	return do(engine)
}

// module has the module check an address.
func (c *doctorCmd) module(ctx context.Context) (string, error) {
	return c.withEngine(ctx, func(engine *host.Engine) (string, error) {
		answer, err := engine.Check(ctx, nil, "postmaster@example.org", 0)
		if err != nil {
			return "", err
		}
		if !answer.Valid {
			return "", fmt.Errorf("%s refuses postmaster@example.org: build it again", c.source())
		}
		info := engine.View().Info()
		return fmt.Sprintf("engine %s, model %s", info.Engine, info.Model), nil
	})
}

// stale is the age of lists from which on they miss much: throw-away domains
// live for weeks.
const stale = 180 * 24 * time.Hour

// lists judges the age of the lists in use; their version begins with the day
// their sources were read.
func (c *doctorCmd) lists(ctx context.Context) (string, error) {
	return c.withEngine(ctx, func(engine *host.Engine) (string, error) {
		return judgeLists(engine.View().Info().Lists, time.Now())
	})
}

func judgeLists(version string, now time.Time) (string, error) {
	day, _, _ := strings.Cut(version, "-")
	read, err := time.Parse("2006.01.02", day)
	if err != nil {
		return "", fmt.Errorf("version %q does not begin with a day: pack the lists again", version)
	}
	if age := now.Sub(read); age > stale {
		return "", fmt.Errorf("%s are %d days old: run go run ./lists/refresh, pack, and give the blob as --lists", version, int(age.Hours()/24))
	}
	return version, nil
}
