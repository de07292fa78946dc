package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// checkCmd checks addresses without an account: given as arguments, in files, or in
// a pipe.
type checkCmd struct {
	Targets []string `arg:"" optional:"" name:"address|file" help:"Addresses and files. - is standard input, which is also read if nothing is given."`

	checkInputFlags
	checkOutputFlags
	checkDNSFlags
	serverFlags
	moduleFlags `group:"Module and lists:"`

	Strict bool     `group:"End and exit code:" help:"End at the first line that cannot be read. Otherwise it is reported, the rest is checked, and the exit code is 1."`
	FailOn []string `group:"End and exit code:" placeholder:"WHAT" help:"Exit with 3 if an address is one of these, separated by commas: ${failures}."`
	Resume int64    `group:"End and exit code:" placeholder:"N" help:"Leave out the first N addresses, which an earlier run has written. An interrupted run prints its N."`
}

// checkDNSFlags are how MX records are looked up.
type checkDNSFlags struct {
	Offline    bool          `group:"MX records:" help:"Look nothing up. mx is then not known: empty in a table and in CSV, false in NDJSON."`
	DNS        []string      `group:"MX records:" placeholder:"HOST:PORT" help:"Recursive resolvers to query, separated by commas (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `group:"MX records:" name:"dns-timeout" default:"5s" help:"The longest time of one look-up (${default})."`
	Workers    int           `group:"MX records:" default:"64" placeholder:"N" help:"The most look-ups at a time (${default}). Each domain is looked up once."`
}

// mostWorkers is the most look-ups at a time: beyond it a resolver of an office or
// a home drops queries.
const mostWorkers = 1024

// validate returns an error for settings that cannot work.
func (c *checkCmd) validate() error {
	err := errors.Join(
		checkTime("--dns-timeout", c.DNSTimeout, shortestTime, longestTime),
		checkNumber("--workers", c.Workers, mostWorkers),
		checkFailures(c.FailOn),
		c.serverFlags.validate(c.Offline),
		c.checkOutputFlags.validate(c.Resume))
	if c.Resume < 0 {
		err = errors.Join(err, fmt.Errorf("--resume %d: must not be negative", c.Resume))
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// Run checks the addresses.
func (c *checkCmd) Run(ctx context.Context, std streams, line commandLine) error {
	if err := c.validate(); err != nil {
		return err
	}
	in, err := c.openInput(c.Targets, std)
	if err != nil {
		return err
	}
	out, err := c.openOutput(in, std, c.Resume)
	if err != nil {
		return err
	}
	run := check.Run{Input: in, Output: out, Strict: c.Strict}
	checker, err := c.setChecker(ctx, &run, in, std)
	if err != nil {
		return errors.Join(err, out.abandon())
	}
	defer checker.close()
	return c.run(ctx, &run, in, out, std, line.with(checker.resume))
}

// run checks everything, and reports what was found.
func (c *checkCmd) run(ctx context.Context, run *check.Run, in *checkInput, out *checkOutput, std streams, line commandLine) error {
	report := c.newReport(in, out, std)
	run.Format, run.Bad, run.Written = out, report.bad, report.written
	run.Input = report.counted(skip(run.Input, c.Resume))
	report.start()
	counts, err := run.Do(ctx)
	report.end(counts, !c.Offline)
	if closed := out.close(counts.Records, err == nil); err == nil {
		err = closed
	}
	if err != nil {
		return c.stopped(ctx, err, counts, in, out, line)
	}
	return c.verdict(counts)
}

// setChecker sets what checks the addresses: a service, or this process.
func (c *checkCmd) setChecker(ctx context.Context, run *check.Run, in *checkInput, std streams) (openChecker, error) {
	if c.Server != "" {
		return c.setRemote(ctx, run, c.Details, in.count(), std.err)
	}
	done, err := c.setLocal(ctx, run)
	return openChecker{close: done}, err
}

// setLocal makes the run check in this process. done frees what it needs.
func (c *checkCmd) setLocal(ctx context.Context, run *check.Run) (done func(), err error) {
	local := &check.Local{Flags: c.checkFlags()}
	run.Checker, run.Workers = local, runtime.GOMAXPROCS(0)
	closeResolver := func() {}
	if !c.Offline {
		resolver, err := c.resolver(ctx)
		if err != nil {
			return nil, err
		}
		closeResolver = resolver.Close
		local.Lookups = check.NewLookups(resolver, c.Workers)
		run.Workers = chunksLookedUp
	}
	engine, err := c.engine(ctx)
	if err != nil {
		closeResolver()
		return nil, err
	}
	local.View = engine.View()
	return func() {
		closeResolver()
		engine.Close(context.WithoutCancel(ctx))
	}, nil
}

// chunksLookedUp is how many chunks wait for look-ups at a time. A domain that does
// not answer delays the output behind it, and the others go on meanwhile.
const chunksLookedUp = 64

// resolver returns a resolver that answers. Without one, all addresses would get
// the same error, after a long time.
func (c *checkDNSFlags) resolver(ctx context.Context) (*mx.Resolver, error) {
	resolver, err := mx.New(check.ResolverConfig(c.DNS, c.DNSTimeout, c.Workers))
	if err != nil {
		return nil, err
	}
	if err := resolver.Probe(ctx); err != nil {
		resolver.Close()
		return nil, fmt.Errorf("no resolver answers, so MX records cannot be looked up; give one with --dns HOST:PORT, or leave MX out with --offline: %w", err)
	}
	return resolver, nil
}

// checkFlags returns the module's flags for every address.
func (c *checkCmd) checkFlags() host.Flags {
	if c.Details {
		return c.flags() | host.Details
	}
	return c.flags()
}

// skip returns the input without its first n records.
func skip(in check.Input, n int64) check.Input {
	if n == 0 {
		return in
	}
	return &skipping{in, n}
}

type skipping struct {
	check.Input
	left int64
}

// Read drops records until enough are dropped.
func (s *skipping) Read(dst []check.Record) ([]check.Record, error) {
	for s.left > 0 {
		records, err := s.Input.Read(dst[:0:cap(dst)])
		dropped := min(s.left, int64(len(records)))
		s.left -= dropped
		if err == io.EOF && s.left > 0 {
			return dst, usageError{fmt.Errorf("--resume is %d records beyond the end of the input: is it the input of the first run?", s.left)}
		}
		if rest := records[dropped:]; len(rest) > 0 || err != nil {
			return append(dst[:0], rest...), err
		}
	}
	return s.Input.Read(dst)
}
