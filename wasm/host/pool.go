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

// lend calls use with an instance that nobody else has, as acquire returns it, and keeps it unless
// use ends with a trap or a panic.
func (p *pool) lend(ctx context.Context, policy *Policy, use func(*instance) error) (err error) {
	i, err := p.acquire(ctx, policy)
	if err != nil {
		return err
	}
	err = errUnfinished // until use returns
	defer func() { p.release(ctx, i, err) }()
	return use(i)
}

// errUnfinished marks an instance in which a panic ended the call.
var errUnfinished error = &trap{errors.New("the call did not return")}

// acquire returns an instance, which the caller must release, if possible one that has the
// policy; nil means any. It blocks until one is free or ctx is done.
func (p *pool) acquire(ctx context.Context, policy *Policy) (*instance, error) {
	p.counters.calls.Add(1)
	select {
	case p.slots <- struct{}{}:
	default:
		p.counters.waits.Add(1)
		start := time.Now()
		var err error
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			err = ctx.Err()
		}
		p.counters.waited.Add(int64(time.Since(start)))
		if err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	if n := p.choose(policy); n >= 0 {
		i := p.idle[n]
		p.idle = slices.Delete(p.idle, n, n+1)
		p.mu.Unlock()
		return i, nil
	}
	p.mu.Unlock()
	i, err := p.start(ctx)
	if err != nil {
		<-p.slots
	}
	return i, err
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
