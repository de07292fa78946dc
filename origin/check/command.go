// Package check is the command addrspec check: its flags, the files and streams that it reads and writes, and its
// exit codes. A run is a pipeline (package pipeline) from a reader (package input) through the module or a service
// (package client) to a format (package output).
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/check/input/charset"
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

// A Command checks addresses: given as arguments, in files, or in a pipe.
type Command struct {
	Targets []string `arg:"" optional:"" name:"address|file" help:"Addresses and files. - is standard input, which is also read if nothing is given."`

	inputFlags
	outputFlags

	Offline             bool     `group:"MX records:" help:"Look nothing up. mx is then not known: empty in a table and in CSV, null in NDJSON."`
	DNS                 []string `group:"MX records:" placeholder:"HOST:PORT" help:"Recursive resolvers to query, separated by commas (default: those of /etc/resolv.conf)."`
	service.KnownMXFlag `group:"MX records:"`
	DNSTimeout          time.Duration `group:"MX records:" name:"dns-timeout" default:"5s" help:"The longest time of one lookup (${default})."`
	Workers             int           `group:"MX records:" default:"64" placeholder:"N" help:"The most lookups at a time (${default}). Each domain is looked up once."`

	ServerFlags
	service.ModuleFlags `group:"Module and lists:"`

	Strict bool     `group:"End and exit code:" help:"End at the first line that cannot be read. Otherwise it is reported, the rest is checked, and the exit code is 1."`
	FailOn []string `group:"End and exit code:" placeholder:"WHAT" help:"Exit with 3 if an address is one of these, separated by commas: ${failures}; or with 4 for a verdict of the policy: block, review."`
	Resume int64    `group:"End and exit code:" placeholder:"N" help:"Leave out the first N addresses, which an earlier run has written. An interrupted run prints its N."`
}

// mostWorkers is the most lookups at a time: a resolver of an office or a home drops more.
const mostWorkers = 1024

func (c *Command) validate() error {
	problems := []error{
		service.CheckTime("--dns-timeout", c.DNSTimeout),
		service.CheckNumber("--workers", c.Workers, mostWorkers),
		checkFailures(c.FailOn, c.Policy != "" || c.Server != "")}
	if c.Server != "" && c.Offline {
		problems = append(problems, ErrServerOffline)
	}
	if c.Encoding != input.Auto {
		_, err := charset.Name(c.Encoding)
		if err != nil {
			problems = append(problems, fmt.Errorf("--encoding: %w", err))
		}
	}
	if c.Resume < 0 {
		problems = append(problems, fmt.Errorf("--resume %d: must not be negative", c.Resume))
	}
	if err := errors.Join(problems...); err != nil {
		return service.UsageError{Err: err}
	}
	return nil
}

type job struct {
	*Command
	Streams
	in   *checkInput
	pipe pipeline.Run

	lies   error    // what is wrong with a resolver that lies
	resume []string // flags that a resumed run needs besides those of this one
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
	j := &job{Command: c, Streams: std, in: in, pipe: pipeline.Run{Input: in, Strict: c.Strict}}
	if c.Server != "" {
		return j.checkThere(ctx)
	}
	return j.checkHere(ctx)
}

const (
	verifyTime = 2 * time.Second // the longest time that a run waits to know whether a resolver lies

	// chunksLookedUp is how many chunks wait for lookups at a time. A domain that does not respond delays the output
	// behind it, and the others go on meanwhile.
	chunksLookedUp = 64
)

func (j *job) checkHere(ctx context.Context) error {
	engine, err := j.Engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	local := &pipeline.Local{View: engine.View(), Flags: j.Flags()}
	if j.Details {
		local.Flags |= host.Details
	}
	local.Policy, err = ReadPolicy(ctx, engine, j.Policy)
	if err != nil {
		return err
	}
	j.pipe.Checker, j.pipe.Workers = local, runtime.GOMAXPROCS(0)
	if j.Offline {
		return j.check(ctx)
	}
	config := pipeline.ResolverConfig(j.DNS, j.DNSTimeout, j.Workers)
	config.WithMX = j.KnownMX()
	resolver, err := mx.New(config)
	if err != nil {
		return err
	}
	defer resolver.Close()
	// Without a resolver that responds, all addresses would get the same error, after a long time.
	if err := resolver.Probe(ctx); err != nil {
		return fmt.Errorf("no resolver responds, so MX records cannot be looked up; "+
			"give one with --dns HOST:PORT, or leave MX out with --offline: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	j.lies, _ = resolver.Verify(limited)
	local.Lookups, j.pipe.Workers = pipeline.NewLookups(resolver, j.Workers), chunksLookedUp
	return j.check(ctx)
}

// check prints on standard error, beside the run, progress, what cannot be read, and the summary. There is no
// progress beside a table on the same terminal, where the rows are the progress.
func (j *job) check(ctx context.Context) error {
	out, err := j.openOutput(j.in, j.Out, j.Resume > 0)
	if err != nil {
		return err
	}
	if j.Resume > 0 {
		out.skipped = &skipping{Input: j.pipe.Input, count: j.Resume}
		j.pipe.Input = out.skipped
	}
	began, messages := time.Now(), j.Err
	stop, done := func() {}, atomic.Int64{}
	if output.IsTerminal(j.Err) && !j.Quiet && !out.terminal {
		line := &output.Line{To: j.Err, Text: func() string {
			p := output.Progress{Done: done.Load(), Read: j.pipe.Records.Load(), Bytes: j.in.bytes.Load(),
				Size: j.in.size(), Elapsed: time.Since(began)}
			return p.Text(output.TerminalWidth(j.Err) - 1) // some terminals wrap when the last column is written
		}}
		messages, stop = line, line.Stop
		line.Start()
	}
	bad := output.BadLines{To: messages, Name: j.in.targets[0].name}
	j.pipe.Format, j.pipe.Output, j.pipe.Bad = out, out, bad.Report
	j.pipe.Written = func(counts pipeline.Counts) {
		if out.file != nil {
			out.size, _ = out.file.Seek(0, io.SeekCurrent) // it is a regular file
		}
		done.Store(counts.Records)
	}
	var counts pipeline.Counts
	// Of a workbook that is being read when the run is interrupted, nothing remains and nothing more is written.
	j.in.unpack, _ = os.MkdirTemp("", "addrspec-") // a workbook says why it cannot be unpacked
	err = j.in.open()
	if err == nil {
		counts, err = j.pipe.Do(ctx)
	}
	gone := j.in.unpack + "-ended"
	if os.Rename(j.in.unpack, gone) != nil { // as on Windows while a file is open
		gone = j.in.unpack
	}
	_ = os.RemoveAll(gone)
	stop()
	bad.Close()
	if counts.Records > 0 || err == nil {
		out.summarize(messages, &output.Summary{Counts: counts, Elapsed: time.Since(began), LookedUp: !j.Offline,
			Policy: j.Policy != "", Lies: j.lies, Readings: j.in.readings()})
	}
	err = cmp.Or(err, out.close(counts.Records, err == nil))
	if err != nil {
		return j.stopped(ctx, err, counts, out)
	}
	return j.failure(counts)
}

// Exit codes of check besides those of every command.
const (
	exitFailOn      = 3
	exitVerdict     = 4   // for the verdicts that --fail-on names
	exitInterrupted = 130 // what shells expect after Ctrl-C: 128 and the signal's number
)

type failure struct {
	name  string
	code  int
	words string // after a number of addresses
	count func(*pipeline.Counts) int64
}

var failures = []failure{
	{"invalid", exitFailOn, "not valid", func(c *pipeline.Counts) int64 { return c.Invalid }},
	{"typo", exitFailOn, "mistyped", func(c *pipeline.Counts) int64 { return c.Typo }},
	{"disposable", exitFailOn, "disposable", func(c *pipeline.Counts) int64 { return c.Disposable }},
	{"role", exitFailOn, "of a role", func(c *pipeline.Counts) int64 { return c.Role }},
	{"gibberish", exitFailOn, "gibberish", func(c *pipeline.Counts) int64 { return c.Gibberish }},
	{"public", exitFailOn, "of a public provider", func(c *pipeline.Counts) int64 { return c.Public }},
	{"relay", exitFailOn, "of a relay", func(c *pipeline.Counts) int64 { return c.Relay }},
	{"no-mx", exitFailOn, "at a domain without MX", func(c *pipeline.Counts) int64 { return c.NoMX }},
	{"no-address", exitFailOn, "without an address", func(c *pipeline.Counts) int64 { return c.NoAddress }},
	{"errors", exitFailOn, "not determined", func(c *pipeline.Counts) int64 { return c.Errors + c.Bad }},
	{result.Block, exitVerdict, "with the verdict block", func(c *pipeline.Counts) int64 { return c.Block }},
	{result.Review, exitVerdict, "with the verdict review", func(c *pipeline.Counts) int64 { return c.Review }},
}

// FailureNames lists the values of --fail-on that need no policy.
func FailureNames() string {
	var names []string
	for _, f := range failures {
		if f.code == exitFailOn {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

func checkFailures(given []string, policy bool) error {
	for _, name := range given {
		switch {
		case (name == result.Block || name == result.Review) && !policy:
			return fmt.Errorf("--fail-on %s needs the policy that decides: give --policy", name)
		case !slices.ContainsFunc(failures, func(f failure) bool { return f.name == name }):
			return fmt.Errorf("--fail-on %s: must be one or more of %s, or with --policy block, review",
				name, FailureNames())
		}
	}
	return nil
}

func (c *Command) failure(counts pipeline.Counts) error {
	if counts.Bad > 0 && !slices.Contains(c.FailOn, "errors") {
		return fmt.Errorf("%s could not be read, see above; the rest was checked", words.Count(counts.Bad, "line"))
	}
	var found []string
	code := exitVerdict
	for _, f := range failures {
		if n := f.count(&counts); n > 0 && slices.Contains(c.FailOn, f.name) {
			found = append(found, humanize.Comma(n)+" "+f.words)
			code = min(code, f.code)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return service.ExitError{Err: fmt.Errorf("--fail-on: %s", strings.Join(found, ", ")), Code: code}
}

// stopped returns the error of a run that did not come to its end, with how to resume it.
func (j *job) stopped(ctx context.Context, err error, counts pipeline.Counts, out *checkOutput) error {
	if errors.As(err, new(pipeline.BadRecord)) {
		return fmt.Errorf("%w; nothing after it was checked (--strict)", err)
	}
	if errors.As(err, new(service.UsageError)) {
		return err
	}
	done := j.Resume + counts.Records
	separator, hint := "\n", words.Count(done, "record")+" written"
	switch {
	case done == 0:
		separator, hint = "; ", "no record was written"
	case !j.in.typed: // those that were typed are not there to be read again
		flags := append([]string{"--resume", fmt.Sprint(done)}, j.resume...)
		hint += "; go on with " + strings.Join(flags, " ")
		if j.in.stdinUsed {
			hint += ", with the same input again"
		}
		if out.file == nil && !out.terminal {
			hint += ", and append to the output so far with >>"
		}
	}
	if ctx.Err() != nil {
		return service.ExitError{Err: fmt.Errorf("interrupted: %s", hint), Code: exitInterrupted}
	}
	return fmt.Errorf("%w%s%s", err, separator, hint)
}
