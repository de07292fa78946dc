package api

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/addrspec/addrspec/wasm/host"
)

// An item is one address of a batch and what was found out about it.
type item struct {
	checked bool // the module gave facts
	facts   host.Answer
	lookup  lookup
}

// finished reports whether all that there is to find out was found out.
func (i *item) finished() bool { return i.checked && i.lookup.finished }

// checkAll finds out about all addresses, in order, what it can until ctx ends,
// the time is up or the server stops. An error means that the batch fails.
func (x *exchange) checkAll(ctx context.Context, emails []string) ([]item, error) {
	ctx, cancel := x.workContext(ctx)
	defer cancel()
	items, err := x.runModule(ctx, emails)
	if err != nil {
		return nil, err
	}
	lookups, err := x.lookUpAll(ctx, domainsOf(items))
	for n := range items {
		items[n].lookup = lookups[items[n].facts.Host]
	}
	return items, err
}

// workProblem is the problem of work that failed as a whole.
func (s *Server) workProblem(ctx context.Context, err error) *problem {
	if limited(err) {
		return limitedProblem(err)
	}
	return s.moduleProblem(ctx, err)
}

// workContext ends with ctx, after the time that a batch may take, or when the
// server stops.
func (s *Server) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, s.BatchTimeout)
	stop := context.AfterFunc(s.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}

// domainsOf lists the domains of the items that were checked, each once.
func domainsOf(items []item) []string {
	seen := make(map[string]bool, len(items))
	var domains []string
	for n := range items {
		if name := items[n].facts.Host; items[n].checked && !seen[name] {
			seen[name] = true
			domains = append(domains, name)
		}
	}
	return domains
}

// finishedItems are the items that are reported and charged.
func finishedItems(items []item) (finished []*item) {
	for n := range items {
		if items[n].finished() {
			finished = append(finished, &items[n])
		}
	}
	return finished
}

// runModule runs the module on the addresses with a few workers: more than
// there are processors would only wait. All of them have ended on return.
func (s *Server) runModule(ctx context.Context, emails []string) ([]item, error) {
	run := moduleRun{view: s.Engine.View(), flags: s.Flags, emails: emails, items: make([]item, len(emails))}
	workers := min(runtime.GOMAXPROCS(0), len(emails))
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(func() { run.work(ctx) })
	}
	run.work(ctx)
	group.Wait()
	if failed := run.failed.Load(); failed != nil {
		return nil, *failed
	}
	return run.items, nil
}

// A moduleRun is what the workers of one batch share.
type moduleRun struct {
	view   *host.View // one set of lists for the whole batch
	flags  host.Flags
	emails []string
	items  []item
	next   atomic.Int64          // the first address that no worker has taken
	failed atomic.Pointer[error] // why the batch fails
}

// work takes addresses until none is left.
func (r *moduleRun) work(ctx context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			r.fail(panicError(cause))
		}
	}()
	var room []byte // for the JSON of several addresses
	for n := r.nextIndex(); n < len(r.emails) && ctx.Err() == nil && r.failed.Load() == nil; n = r.nextIndex() {
		if cap(room) == 0 {
			room = make([]byte, 0, jsonBuffer)
		}
		facts, err := r.view.Check(ctx, room, r.emails[n], r.flags)
		if err != nil {
			if ctx.Err() == nil {
				r.fail(err)
			}
			return
		}
		room = facts.JSON[len(facts.JSON):]
		r.items[n] = item{checked: true, facts: facts}
	}
}

// jsonRoom is what about a dozen usual addresses take.
const jsonBuffer = 4 << 10

func (r *moduleRun) nextIndex() int { return int(r.next.Add(1)) - 1 }

// fail keeps the first error.
func (r *moduleRun) fail(err error) { r.failed.CompareAndSwap(nil, &err) }

// panicError is the error that a panic becomes. It has only the type: the
// value may quote the input.
func panicError(cause any) error { return fmt.Errorf("panic of type %T", cause) }
