package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check"
)

// Exit codes of check besides those of every command.
const (
	exitFailOn      = 3
	exitInterrupted = 130 // what shells expect after Ctrl-C: 128 and the signal's number
)

// An exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error without the code.
func (e exitError) Unwrap() error { return e.error }

// failures are what --fail-on can name, in the order of its help.
var failures = []struct {
	name  string
	words string // after a number of addresses
	count func(*check.Counts) int64
}{
	{"invalid", "not valid", func(c *check.Counts) int64 { return c.Invalid }},
	{"typo", "mistyped", func(c *check.Counts) int64 { return c.Typo }},
	{"disposable", "disposable", func(c *check.Counts) int64 { return c.Disposable }},
	{"role", "of a role", func(c *check.Counts) int64 { return c.Role }},
	{"gibberish", "gibberish", func(c *check.Counts) int64 { return c.Gibberish }},
	{"public", "of a public provider", func(c *check.Counts) int64 { return c.Public }},
	{"relay", "of a relay", func(c *check.Counts) int64 { return c.Relay }},
	{"no-mx", "at a domain without MX", func(c *check.Counts) int64 { return c.NoMX }},
	{"errors", "not determined", func(c *check.Counts) int64 { return c.Errors + c.Bad }},
}

// failureNames lists the values of --fail-on.
func failureNames() string {
	var names []string
	for _, f := range failures {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

func checkFailures(given []string) error {
	for _, name := range given {
		if !strings.Contains(", "+failureNames()+",", ", "+name+",") {
			return fmt.Errorf("--fail-on %s: must be one or more of %s", name, failureNames())
		}
	}
	return nil
}

// verdict returns the error of a run that came to its end: lines that could not be
// read, or what --fail-on names.
func (c *checkCmd) verdict(counts check.Counts) error {
	if counts.Bad > 0 && !slices.Contains(c.FailOn, "errors") {
		return fmt.Errorf("%s could not be read, see above; the rest was checked", quantity(counts.Bad, "line"))
	}
	var found []string
	for _, f := range failures {
		if n := f.count(&counts); n > 0 && slices.Contains(c.FailOn, f.name) {
			found = append(found, humanize.Comma(n)+" "+f.words)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return exitError{fmt.Errorf("--fail-on: %s", strings.Join(found, ", ")), exitFailOn}
}

// stopped returns the error of a run that did not come to its end, with how to
// resume it.
func (c *checkCmd) stopped(ctx context.Context, err error, counts check.Counts, in *checkInput, out *checkOutput, line commandLine) error {
	if errors.As(err, new(*check.BadRecord)) {
		return fmt.Errorf("%w; nothing after it was checked (--strict)", err)
	}
	if errors.As(err, new(usageError)) {
		return err
	}
	done := c.Resume + counts.Records
	if done == 0 {
		return stopError(ctx, err, "no record was written")
	}
	return stopError(ctx, err, fmt.Sprintf("%s written%s", quantity(done, "record"), line.hint(done, in, out)))
}

// stopError returns the error of a run that ctx or err has ended.
func stopError(ctx context.Context, err error, hint string) error {
	if ctx.Err() != nil {
		return exitError{fmt.Errorf("interrupted: %s", hint), exitInterrupted}
	}
	return fmt.Errorf("%w\n%s", err, hint)
}

func quantity(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
}
