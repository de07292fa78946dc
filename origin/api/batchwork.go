package api

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// An item is one address of a batch with its facts and its lookup.
type item struct {
	checked bool // facts is set
	facts   host.Facts
	lookup  lookup
	verdict []byte // of the request's policy; nil without one
}

// finished reports whether both the facts and the lookup are known.
func (i *item) finished() bool { return i.checked && i.lookup.finished }

// checkAll checks all addresses, whose items are in memory in order. Items are
// unfinished if ctx ends, BatchTimeout passes or the server stops first. An error
// fails the whole batch.
func (x *exchange) checkAll(ctx context.Context, given *batchInput, memory *batchMemory) error {
	work, cancel := x.workContext(ctx)
	defer cancel()
	view := x.Engine.View()
	if err := x.runModule(work, view, given, memory); err != nil {
		return err
	}
	if err := x.lookUpItems(work, memory.items, given.details != 0 || x.policy.WantsAddress()); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, resolveTime)
	defer stop()
	if err := resolveItems(ctx, view, memory.items); err != nil || x.policy == nil {
		return err
	}
	return decide(ctx, view, x.policy, memory.items)
}

// decide sets the verdicts by p of the items that are finished without an error. An item is
// unfinished if ctx ends before.
func decide(ctx context.Context, view *host.View, p *host.Policy, items []item) error {
	subjects, of := make([]host.Subject, 0, len(items)), make([]*item, 0, len(items))
	for n := range items {
		if i := &items[n]; i.finished() && i.lookup.err == nil {
			subjects, of = append(subjects, host.Subject{Facts: &i.facts, Found: i.lookup.found.Found()}), append(of, i)
		}
	}
	buffer := make([]byte, 0, len(of)*usualVerdict)
	err := view.Verdicts(ctx, p, subjects, func(n int, verdict []byte) {
		start := len(buffer)
		buffer = append(buffer, verdict...)
		of[n].verdict = buffer[start:len(buffer):len(buffer)]
	})
	if err == nil || ctx.Err() == nil {
		return err
	}
	for _, i := range of {
		if i.verdict == nil {
			i.lookup = lookup{}
		}
	}
	return nil
}

// usualVerdict is the length of the longest verdict in bytes (wasm/ABI.md).
const usualVerdict = 76

// resolveTime is how long a batch waits for the module once its lookups are done or their
// time has passed. What was looked up is finished, and the module needs microseconds for it.
const resolveTime = time.Second

// resolveItems adds the lookups to the facts. An item is unfinished if ctx ends before.
func resolveItems(ctx context.Context, view *host.View, items []item) error {
	for n := range items {
		i := &items[n]
		if !i.finished() || i.lookup.err != nil {
			continue
		}
		if err := view.Resolve(ctx, &i.facts, i.lookup.found); err != nil {
			if ctx.Err() == nil {
				return err
			}
			i.lookup = lookup{}
		}
	}
	return nil
}

// lookUpItems sets the lookups of the checked items, in place if all are cached.
func (x *exchange) lookUpItems(ctx context.Context, items []item, details bool) error {
	var missing []*item
	for n := range items {
		i := &items[n]
		if !i.checked {
			continue
		}
		var cached bool
		if i.lookup, cached = x.cached(i.facts.Host, details); !cached {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	lookups, err := x.lookUpAll(ctx, domainsOf(missing), details)
	for _, i := range missing {
		i.lookup = lookups[i.facts.Host]
	}
	return err
}

// workProblem returns the problem for work that failed as a whole.
func (s *Server) workProblem(ctx context.Context, err error) *problem {
	if p := memoryProblem(err); p != nil {
		return p
	}
	if limited(err) {
		return limitedProblem(err)
	}
	return s.moduleProblem(ctx, err)
}

// workContext returns a context that ends with ctx, after BatchTimeout, or when
// the server stops.
func (s *Server) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, s.BatchTimeout)
	stop := context.AfterFunc(s.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}

// domainsOf returns the distinct domains of items.
func domainsOf(items []*item) (domains []string) {
	seen := make(map[string]bool, len(items))
	for _, i := range items {
		if name := i.facts.Host; !seen[name] {
			seen[name] = true
			domains = append(domains, name)
		}
	}
	return domains
}

// finishedItems returns the items that are reported and charged.
func finishedItems(items []item) (finished []*item) {
	for n := range items {
		if items[n].finished() {
			finished = append(finished, &items[n])
		}
	}
	return finished
}

// runModule runs the module on the addresses, with a worker for each share, but at most
// as many as there are instances, since more would only wait. All workers have ended
// when it returns.
func (s *Server) runModule(ctx context.Context, view *host.View, given *batchInput, memory *batchMemory) error {
	run := moduleRun{view: view, flags: s.Flags | given.details, emails: given.emails, memory: memory}
	workers := min(run.view.Size(), (len(run.emails)+share-1)/share)
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(func() { run.work(ctx) })
	}
	run.work(ctx)
	group.Wait()
	if failed := run.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// A moduleRun is the state that the workers of one batch share.
type moduleRun struct {
	view   *host.View // the same lists for the whole batch
	flags  host.Flags
	emails []string
	memory *batchMemory
	next   atomic.Int64          // index of the next address to check
	failed atomic.Pointer[error] // the first error
}

// share is how many addresses a worker checks with one instance of the module before
// another worker may have it. With less, workers that wait for an instance take longer
// to wake than to check.
const share = 16

// work checks addresses until none is left.
func (r *moduleRun) work(ctx context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			r.fail(panicError(cause))
		}
	}()
	for n := r.nextShare(); n < len(r.emails) && ctx.Err() == nil && r.failed.Load() == nil; n = r.nextShare() {
		if err := r.check(ctx, n, min(n+share, len(r.emails))); err != nil {
			if ctx.Err() == nil {
				r.fail(err)
			}
			return
		}
	}
}

// nextShare returns the index of the first address of the next share.
func (r *moduleRun) nextShare() int { return int(r.next.Add(share)) - share }

// check checks the addresses from start up to end with one instance.
func (r *moduleRun) check(ctx context.Context, start, end int) error {
	var buffer []byte
	return r.view.CheckMany(ctx, r.emails[start:end], r.flags, func(n int, facts host.Facts) {
		if n == 0 {
			buffer = r.memory.room(start, end-start)
		}
		kept := facts.Keep(buffer)
		r.memory.items[start+n] = item{checked: true, facts: kept}
		buffer = kept.JSON[len(kept.JSON):]
	})
}

// fail stores the first error.
func (r *moduleRun) fail(err error) { r.failed.CompareAndSwap(nil, &err) }

// panicError returns the error for a recovered panic. It has only the type of the
// value, which may contain input.
func panicError(cause any) error { return fmt.Errorf("panic of type %T", cause) }

// A batchMemory holds the items of a batch and their JSON until the response is
// written, which copies them.
type batchMemory struct {
	items []item
	json  [maxUnique / share]*shareJSON // of each share; nil before its first address is checked
}

// A shareJSON has room for the JSON of a share. It is used again, and only taken once an
// instance is there, or the batches that wait for one would hold most of the memory.
type shareJSON [share * usualJSON]byte

// usualJSON is more than the JSON of a usual address has, in bytes.
const usualJSON = 384

var shareJSONs = sync.Pool{New: func() any { return new(shareJSON) }}

// room returns an empty buffer for the JSON of size addresses from number start on, a
// share's first. Fewer than a share have one of their own, so that a batch of few
// addresses that waits for DNS holds no more memory than it needs.
func (m *batchMemory) room(start, size int) []byte {
	if size < share {
		return make([]byte, 0, size*usualJSON)
	}
	json := shareJSONs.Get().(*shareJSON)
	m.json[start/share] = json
	return json[:0]
}

// release lets other batches use the JSON's memory. No item may be used afterwards.
func (m *batchMemory) release() {
	for n, json := range m.json {
		if json != nil {
			shareJSONs.Put(json)
			m.json[n] = nil
		}
	}
}
