package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// pool contains instances with the same lists. A slot is the right to use an
// instance, so the number of slots limits the number of instances.
type pool struct {
	start    func(context.Context) (*instance, error)
	slots    chan struct{}
	counters *counters

	mu      sync.Mutex
	idle    []*instance
	retired bool
}

// newPool returns a pool for at most size instances, without one.
func newPool(size int, c *counters, start func(context.Context) (*instance, error)) *pool {
	return &pool{start: start, slots: make(chan struct{}, size), counters: c}
}

// fill starts instances until all slots have one, so that no caller waits for a
// start. Nobody may use the pool yet.
func (p *pool) fill(ctx context.Context) error {
	for len(p.idle) < cap(p.slots) {
		i, err := p.start(ctx)
		if err != nil {
			return err
		}
		p.idle = append(p.idle, i)
	}
	return nil
}

// acquire returns an instance, which the caller must release. It blocks until one
// is free or ctx is done.
func (p *pool) acquire(ctx context.Context) (*instance, error) { return p.acquireFor(ctx, nil) }

// acquireFor is acquire for a caller that uses a policy, nil for none.
func (p *pool) acquireFor(ctx context.Context, policy *Policy) (*instance, error) {
	if err := p.acquireSlot(ctx); err != nil {
		return nil, err
	}
	i, err := p.take(ctx, policy)
	if err != nil {
		<-p.slots
	}
	return i, err
}

// acquireSlot acquires a slot and counts the wait. It reads the clock only if it
// has to wait.
func (p *pool) acquireSlot(ctx context.Context) error {
	p.counters.calls.Add(1)
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	p.counters.waits.Add(1)
	start := time.Now()
	defer func() { p.counters.waited.Add(int64(time.Since(start))) }()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take returns an idle instance or starts one.
func (p *pool) take(ctx context.Context, policy *Policy) (*instance, error) {
	if i := p.pop(policy); i != nil {
		return i, nil
	}
	return p.start(ctx)
}

// pop returns an idle instance or nil.
func (p *pool) pop(policy *Policy) (i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.choose(policy); n >= 0 {
		i = p.idle[n]
		p.idle = slices.Delete(p.idle, n, n+1)
	}
	return i
}

// choose returns the index of an idle instance, or -1: that which was used last, since it is
// in the processor's cache; for a policy one that has it, else the one with the fewest. So
// the instances share many policies among them, and few are loaded again.
func (p *pool) choose(policy *Policy) int {
	last := len(p.idle) - 1
	if policy == nil {
		return last
	}
	least := last
	for n := last; n >= 0; n-- {
		handles := p.idle[n].handles
		if _, has := handles[policy.hash]; has {
			return n
		}
		if len(handles) < len(p.idle[least].handles) {
			least = n
		}
	}
	return least
}

// release returns an instance to the pool, with the error of its last call. After
// a trap it closes the instance; a later caller starts a new one.
func (p *pool) release(ctx context.Context, i *instance, err error) {
	trapped := isTrap(err)
	if trapped {
		p.counters.trapped.Add(1)
	}
	p.mu.Lock()
	keep := !p.retired && !trapped
	if keep {
		p.idle = append(p.idle, i)
	}
	p.mu.Unlock()
	if !keep {
		i.module.Close(ctx)
	}
	<-p.slots
}

func isTrap(err error) bool {
	if err == nil { // errors.As would allocate even in this usual case
		return false
	}
	var t *trap
	return errors.As(err, &t)
}

// retire closes the idle instances now and each acquired one on its release.
// Views of the retired pool still work.
func (p *pool) retire(ctx context.Context) {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.retired = nil, true
	p.mu.Unlock()
	for _, i := range idle {
		i.module.Close(ctx)
	}
}
