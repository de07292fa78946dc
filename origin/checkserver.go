package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/client"
)

// A remote checks through a service.
type remote struct {
	client *client.Client
	usage  client.Usage
}

// openRemote connects to the service of --server. It asks for the account's usage,
// so that a wrong URL or key is reported before any address is read.
func (f *serverFlags) openRemote(ctx context.Context, warnings io.Writer) (*remote, error) {
	c, err := f.connect(true, warnings)
	if err != nil {
		return nil, err
	}
	usage, err := c.Usage(ctx)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("--server: %w", err)
	}
	return &remote{c, usage}, nil
}

// setRemote makes the run check through the service, with the evidence if details is
// set. What it costs is said if the number of addresses is known (not negative), or
// on a terminal.
func (f *serverFlags) setRemote(ctx context.Context, run *check.Run, details bool, addresses int64, messages io.Writer) (o openChecker, err error) {
	r, err := f.openRemote(ctx, messages)
	if err != nil {
		return o, err
	}
	if addresses >= 0 || prompt.IsTerminal(messages) {
		r.announce(messages, addresses)
	}
	run.Checker = &client.Checker{Client: r.client, Details: details, Reasons: true}
	run.Input, run.Workers = client.Batches(run.Input), client.Concurrency
	return openChecker{close: r.client.Close, resume: r.resumeFlags()}, nil
}

// announce says what a check of so many addresses costs and what is left. The
// number is negative if it is not known.
func (r *remote) announce(to io.Writer, addresses int64) {
	cost := "One point for each different address of a batch"
	switch {
	case addresses == 1:
		cost = "1 point at most"
	case addresses >= 0:
		cost = humanize.Comma(addresses) + " points at most"
	}
	fmt.Fprintf(to, "%s; %s.\n", cost, leftOf(&r.usage))
	if left, limited := r.usage.Left(); limited && addresses > left {
		fmt.Fprintln(to, "That may not be enough: the run ends when no points are left for a batch.")
	}
}

func leftOf(u *client.Usage) string {
	left, limited := u.Left()
	if !limited {
		return "the account has no limit"
	}
	return fmt.Sprintf("%s left until %s", humanize.Comma(left), u.Points.Refill.UTC().Format("2 January 2006"))
}

// resumeFlags returns what makes a resumed run send the Idempotency-Keys of this one.
// Its batches are the same if it reads the same file from a multiple of whole
// batches on, which is where a run stops.
func (r *remote) resumeFlags() []string { return []string{"--run-id", r.client.RunID()} }

// An openChecker is the checker of a run: the module in this process or a service.
type openChecker struct {
	close  func()
	resume []string // flags that a resumed run needs besides those of this one
}
