// Package check is the command addrspec check: its flags, the files and streams that it reads and
// writes, and its exit codes. A run is a pipeline (package pipeline) from a reader (package input)
// through the module or a service (package client) to a format (package output).
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/result"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Command checks addresses without an account: given as arguments, in files, or in
// a pipe.
type Command struct {
	Targets []string `arg:"" optional:"" name:"address|file" help:"Addresses and files. - is standard input, which is also read if nothing is given."`

	inputFlags
	outputFlags
	dnsFlags
	ServerFlags
	service.ModuleFlags `group:"Module and lists:"`

	Strict bool     `group:"End and exit code:" help:"End at the first line that cannot be read. Otherwise it is reported, the rest is checked, and the exit code is 1."`
	FailOn []string `group:"End and exit code:" placeholder:"WHAT" help:"Exit with 3 if an address is one of these, separated by commas: ${failures}; or with 4 for a verdict of the policy: block, review."`
	Resume int64    `group:"End and exit code:" placeholder:"N" help:"Leave out the first N addresses, which an earlier run has written. An interrupted run prints its N."`
}

// dnsFlags are how MX records are looked up.
type dnsFlags struct {
	Offline             bool     `group:"MX records:" help:"Look nothing up. mx is then not known: empty in a table and in CSV, null in NDJSON."`
	DNS                 []string `group:"MX records:" placeholder:"HOST:PORT" help:"Recursive resolvers to query, separated by commas (default: those of /etc/resolv.conf)."`
	service.KnownMXFlag `group:"MX records:"`
	DNSTimeout          time.Duration `group:"MX records:" name:"dns-timeout" default:"5s" help:"The longest time of one lookup (${default})."`
	Workers             int           `group:"MX records:" default:"64" placeholder:"N" help:"The most lookups at a time (${default}). Each domain is looked up once."`
}

// mostWorkers is the most lookups at a time: beyond it a resolver of an office or
// a home drops queries.
const mostWorkers = 1024

// validate returns an error for settings that cannot work.
func (c *Command) validate() error {
	err := errors.Join(
		service.CheckTime("--dns-timeout", c.DNSTimeout),
		service.CheckNumber("--workers", c.Workers, mostWorkers),
		checkFailures(c.FailOn, c.Policy != "" || c.Server != ""),
		c.ServerFlags.validate(c.Offline),
		c.inputFlags.validate(),
		c.outputFlags.validate(c.Resume))
	if c.Resume < 0 {
		err = errors.Join(err, fmt.Errorf("--resume %d: must not be negative", c.Resume))
	}
	if err != nil {
		return service.UsageError{Err: err}
	}
	return nil
}

// Run checks the addresses.
func (c *Command) Run(ctx context.Context, std Streams) error {
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
	run := pipeline.Run{Input: in, Output: out, Strict: c.Strict}
	var checker openChecker
	if c.Server != "" {
		checker, err = c.setRemote(ctx, &run, in.count(), std.Err)
	} else {
		checker, err = c.setLocal(ctx, &run)
	}
	if err != nil {
		return errors.Join(err, out.abandon())
	}
	defer checker.close()
	counts, err := c.run(ctx, &run, in, out, std.Err, checker.lies)
	if err != nil {
		return c.stopped(ctx, err, counts, in, out, checker.resume)
	}
	return c.failure(counts)
}

// run checks everything, and prints on standard error progress, what cannot be read, and the summary.
// There is no progress beside a table on the same terminal, where the rows are the progress.
func (c *Command) run(ctx context.Context, run *pipeline.Run, in *checkInput, out *checkOutput, messages io.Writer,
	lies func() error) (pipeline.Counts, error) {
	if c.Resume > 0 {
		out.skipped = &skipping{Input: run.Input, left: c.Resume}
		run.Input = out.skipped
	}
	began, stop, few := time.Now(), func() {}, in.onlyAddresses()
	bad := output.BadLines{To: messages, Name: stdinName}
	if len(in.targets) == 1 && in.targets[0].path != "-" {
		bad.Name = in.targets[0].path
	}
	progressed := func(pipeline.Counts) {}
	if output.IsTerminal(messages) && !c.Quiet && !out.terminal {
		terminal := messages
		progress := output.NewProgress(terminal, func() int { return output.TerminalWidth(terminal) }, in.size())
		run.Input, in.wrap, progressed = progress.Input(run.Input), progress.Reader, progress.Written
		messages, bad.To, stop = progress, progress, progress.Stop
		progress.Start()
	}
	run.Format, run.Bad = out, bad.Report
	run.Written = func(counts pipeline.Counts) {
		if out.file != nil {
			out.size, _ = out.file.Seek(0, io.SeekCurrent) // it is a regular file
		}
		progressed(counts)
	}
	counts, err := run.Do(ctx)
	stop()
	bad.Close()
	if counts.Records > 0 || err == nil {
		s := output.Summary{Counts: counts, Elapsed: time.Since(began), LookedUp: !c.Offline, Policy: c.Policy != "",
			Readings: in.readings.list()}
		if lies != nil && !c.Quiet && c.Summary != "none" {
			s.Lies = lies()
		}
		c.summarize(messages, &s, few)
	}
	if closed := out.close(counts.Records, err == nil); err == nil {
		err = closed
	}
	return counts, err
}

// setLocal makes the run check in this process.
func (c *Command) setLocal(ctx context.Context, run *pipeline.Run) (o openChecker, err error) {
	local := &pipeline.Local{Flags: c.Flags()}
	if c.Details {
		local.Flags |= host.Details
	}
	run.Checker, run.Workers = local, runtime.GOMAXPROCS(0)
	engine, err := c.Engine(ctx)
	if err != nil {
		return o, err
	}
	closeEngine := func() { engine.Close(context.WithoutCancel(ctx)) }
	local.View, o.close = engine.View(), closeEngine
	if local.Policy, err = ReadPolicy(ctx, engine, c.Policy); err != nil {
		closeEngine()
		return o, err
	}
	if c.Offline {
		return o, nil
	}
	resolver, err := c.resolver(ctx)
	if err != nil {
		closeEngine()
		return o, err
	}
	// While the run goes on, it is asked whether a resolver lies.
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	found := make(chan error, 1)
	go func() {
		defer cancel()
		wrong, _ := resolver.Verify(ctx)
		found <- wrong
	}()
	o.lies = sync.OnceValue(func() error { return <-found })
	o.close = func() { _ = o.lies(); resolver.Close(); closeEngine() }
	local.Lookups = pipeline.NewLookups(resolver, c.Workers)
	run.Workers = chunksLookedUp
	return o, nil
}

// verifyTime is the longest time that a run waits at its end to know whether a resolver
// lies, counted from its start.
const verifyTime = 2 * time.Second

// chunksLookedUp is how many chunks wait for lookups at a time. A domain that does
// not respond delays the output behind it, and the others go on meanwhile.
const chunksLookedUp = 64

// resolver returns a resolver that responds. Without one, all addresses would get
// the same error, after a long time.
func (c *dnsFlags) resolver(ctx context.Context) (*mx.Resolver, error) {
	config := pipeline.ResolverConfig(c.DNS, c.DNSTimeout, c.Workers)
	config.WithMX = c.KnownMX()
	resolver, err := mx.New(config)
	if err != nil {
		return nil, err
	}
	if err := resolver.Probe(ctx); err != nil {
		resolver.Close()
		return nil, fmt.Errorf("no resolver responds, so MX records cannot be looked up; give one with --dns HOST:PORT, or leave MX out with --offline: %w", err)
	}
	return resolver, nil
}

// Exit codes of check besides those of every command.
const (
	exitFailOn      = 3
	exitVerdict     = 4   // for the verdicts that --fail-on names
	exitInterrupted = 130 // what shells expect after Ctrl-C: 128 and the signal's number
)

// failures are what --fail-on can name, in the order of its help.
var failures = []struct {
	name  string
	words string // after a number of addresses
	count func(*pipeline.Counts) int64
}{
	{"invalid", "not valid", func(c *pipeline.Counts) int64 { return c.Invalid }},
	{"typo", "mistyped", func(c *pipeline.Counts) int64 { return c.Typo }},
	{"disposable", "disposable", func(c *pipeline.Counts) int64 { return c.Disposable }},
	{"role", "of a role", func(c *pipeline.Counts) int64 { return c.Role }},
	{"gibberish", "gibberish", func(c *pipeline.Counts) int64 { return c.Gibberish }},
	{"public", "of a public provider", func(c *pipeline.Counts) int64 { return c.Public }},
	{"relay", "of a relay", func(c *pipeline.Counts) int64 { return c.Relay }},
	{"no-mx", "at a domain without MX", func(c *pipeline.Counts) int64 { return c.NoMX }},
	{"no-address", "without an address", func(c *pipeline.Counts) int64 { return c.NoAddress }},
	{"errors", "not determined", func(c *pipeline.Counts) int64 { return c.Errors + c.Bad }},
}

// FailureNames lists the values of --fail-on.
func FailureNames() string {
	var names []string
	for _, f := range failures {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// verdictFailures are the verdicts that --fail-on can name besides.
var verdictFailures = map[string]func(*pipeline.Counts) int64{
	result.Block:  func(c *pipeline.Counts) int64 { return c.Block },
	result.Review: func(c *pipeline.Counts) int64 { return c.Review },
}

// checkFailures returns an error for a value that --fail-on does not have.
func checkFailures(given []string, policy bool) error {
	for _, name := range given {
		if verdictFailures[name] != nil {
			if !policy {
				return fmt.Errorf("--fail-on %s needs the policy that decides: give --policy", name)
			}
			continue
		}
		if !strings.Contains(", "+FailureNames()+",", ", "+name+",") {
			return fmt.Errorf("--fail-on %s: must be one or more of %s, or with --policy block, review", name, FailureNames())
		}
	}
	return nil
}

// failure returns the error of a run that came to its end: lines that could not be
// read, or what --fail-on names.
func (c *Command) failure(counts pipeline.Counts) error {
	if counts.Bad > 0 && !slices.Contains(c.FailOn, "errors") {
		return fmt.Errorf("%s could not be read, see above; the rest was checked", words.Count(counts.Bad, "line"))
	}
	var found []string
	for _, f := range failures {
		if n := f.count(&counts); n > 0 && slices.Contains(c.FailOn, f.name) {
			found = append(found, humanize.Comma(n)+" "+f.words)
		}
	}
	code := exitFailOn
	if len(found) == 0 {
		code = exitVerdict
	}
	for _, name := range []string{result.Block, result.Review} {
		if n := verdictFailures[name](&counts); n > 0 && slices.Contains(c.FailOn, name) {
			found = append(found, humanize.Comma(n)+" with the verdict "+name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return service.ExitError{Err: fmt.Errorf("--fail-on: %s", strings.Join(found, ", ")), Code: code}
}

// stopped returns the error of a run that did not come to its end, with how to
// resume it.
func (c *Command) stopped(ctx context.Context, err error, counts pipeline.Counts, in *checkInput, out *checkOutput, resume []string) error {
	if errors.As(err, new(*pipeline.BadRecord)) {
		return fmt.Errorf("%w; nothing after it was checked (--strict)", err)
	}
	if errors.As(err, new(service.UsageError)) {
		return err
	}
	done := c.Resume + counts.Records
	if done == 0 {
		return stopError(ctx, err, "; ", "no record was written")
	}
	hint := words.Count(done, "record") + " written"
	if !in.typed { // those that were typed are not there to be read again
		flags := append([]string{"--resume", fmt.Sprint(done)}, resume...)
		hint += "; go on with " + strings.Join(flags, " ")
		if in.stdinUsed {
			hint += ", with the same input again"
		}
		if out.file == nil && !out.terminal {
			hint += ", and append to the output so far with >>"
		}
	}
	return stopError(ctx, err, "\n", hint)
}

// stopError returns the error of a run that ctx or err has ended.
func stopError(ctx context.Context, err error, separator, hint string) error {
	if ctx.Err() != nil {
		return service.ExitError{Err: fmt.Errorf("interrupted: %s", hint), Code: exitInterrupted}
	}
	return fmt.Errorf("%w%s%s", err, separator, hint)
}
