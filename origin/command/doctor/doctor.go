// Package doctor looks at the parts of a deployment, each by itself: the command
// doctor prints what it finds.
//
// A [Check] is a name and a function. What is wrong is an error whose sentence says
// what to do; what should be done soon is [Advice]. The checks here need nothing but the
// machine and the network; the checks of the database are in package ledger, the checks of
// module and lists in the command.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Check looks at one part.
type Check struct {
	Name string
	// Look returns what it found in words, or why that is wrong and what to do. If
	// both are empty, there was nothing to look at.
	Look func(context.Context) (string, error)
}

// Advice is an error that describes what should be done soon.
type Advice struct{ Err error }

func (a Advice) Error() string { return a.Err.Error() }

// Unwrap returns the error.
func (a Advice) Unwrap() error { return a.Err }

// Advise returns advice in words.
func Advise(format string, args ...any) error { return Advice{fmt.Errorf(format, args...)} }

// Status is how a part is.
type Status string

// The statuses from best to worst.
const (
	OK      Status = "ok"
	Advised Status = "advice"
	Wrong   Status = "wrong"
)

// A Finding is what a check found.
type Finding struct {
	Part   string `json:"part"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
}

// Run runs all checks at once, since some wait for a network, and returns what they
// found in their order. A check that takes longer than limit is wrong, and is left
// to itself. Parts with nothing to look at are left out.
func Run(ctx context.Context, limit time.Duration, checks []Check) (findings []Finding) {
	found := make([]Finding, len(checks))
	var group sync.WaitGroup
	for n := range checks {
		group.Go(func() { found[n] = checks[n].run(ctx, limit) })
	}
	group.Wait()
	for _, f := range found {
		if f.Detail != "" {
			findings = append(findings, f)
		}
	}
	return findings
}

func (c *Check) run(ctx context.Context, limit time.Duration) Finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result := make(chan Finding, 1)
	go func() {
		detail, err := c.Look(ctx)
		status := OK
		switch {
		case err == nil:
		case hasMore(err):
			status, detail = Wrong, err.Error()
		default:
			status, detail = Advised, err.Error()
		}
		result <- Finding{c.Name, status, detail}
	}()
	const grace = 200 * time.Millisecond // because a look that ends with its context says more
	select {
	case f := <-result:
		return f
	case <-time.After(limit + grace):
		return Finding{c.Name, Wrong, fmt.Sprintf("no response within %s: what it looks at hangs", limit)}
	}
}

// hasMore reports whether joined errors contain one that is no advice.
func hasMore(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		_, advice := errors.AsType[Advice](err)
		return !advice
	}
	for _, each := range joined.Unwrap() {
		if hasMore(each) {
			return true
		}
	}
	return false
}
