package host

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pool holds instances that check by one set of lists. A slot is the right to
// use an instance, so no more than the pool's size exist at a time.
type pool struct {
	start    func(context.Context) (*instance, error)
	slots    chan struct{}
	counters *counters

	mu      sync.Mutex
	idle    []*instance
	retired bool
}

// newPool starts size instances, so that the first callers need not wait.
func newPool(ctx context.Context, size int, c *counters, start func(context.Context) (*instance, error)) (*pool, error) {
	p := &pool{start: start, slots: make(chan struct{}, size), counters: c}
	for range size {
		i, err := start(ctx)
		if err != nil {
			p.retire(ctx)
			return nil, err
		}
		p.idle = append(p.idle, i)
	}
	return p, nil
}

// lend gives the caller an instance until it is given back; it waits for one
// as long as ctx lets it.
func (p *pool) lend(ctx context.Context) (*instance, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	i, err := p.take(ctx)
	if err != nil {
		<-p.slots
	}
	return i, err
}

// acquire takes a slot and counts what it cost; without a wait no clock is read.
func (p *pool) acquire(ctx context.Context) error {
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

func (p *pool) take(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		i := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return i, nil
	}
	p.mu.Unlock()
	return p.start(ctx)
}

// giveBack takes an instance back, with the error of its last call. One that
// met a trap is closed; the next caller starts a fresh one.
func (p *pool) giveBack(ctx context.Context, i *instance, err error) {
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
	if err == nil { // the usual case, for which errors.As would allocate
		return false
	}
	var met *trap
	return errors.As(err, &met)
}

// retire closes the idle instances now and each lent one when it comes back.
// Who still holds the pool can go on using it.
func (p *pool) retire(ctx context.Context) {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.retired = nil, true
	p.mu.Unlock()
	for _, i := range idle {
		i.module.Close(ctx)
	}
}
