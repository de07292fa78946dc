package api

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/wasm/host"
)

// item is what became of one address of a batch; the zero value is unfinished.
type item struct {
	finished bool
	facts    host.Answer
	mx       bool
	dns      error // the look-up gave no answer
	fault    error // the module gave no facts: a defect, the batch fails
}

// checkAll states the facts about all addresses.
func (s *Server) checkAll(ctx context.Context, emails []string) ([]item, error) {
	view := s.Engine.View() // one set of lists for the whole batch
	return s.sideBySide(ctx, len(emails), func(ctx context.Context, n int) item {
		return s.checkOne(ctx, view, emails[n])
	})
}

// sideBySide does count pieces of work until they are done, the time is up, the
// client is gone or the server stops. Items stand in order; those not finished
// by then stay zero.
func (s *Server) sideBySide(ctx context.Context, count int, do func(context.Context, int) item) ([]item, error) {
	ctx, cancel := context.WithTimeout(ctx, s.BatchTimeout)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	done := make(chan numbered, count)
	for n := range count {
		go func() { done <- numbered{n, finish(ctx, n, do)} }()
	}
	return collect(ctx, done, count)
}

// finish does one piece of work. What the end of the batch interrupted is
// unfinished, not failed.
func finish(ctx context.Context, n int, do func(context.Context, int) item) (i item) {
	defer func() {
		if fault := recover(); fault != nil {
			i = item{fault: fmt.Errorf("panic: %v", fault)}
		}
	}()
	i = do(ctx, n)
	if ctx.Err() != nil && (i.fault != nil || i.dns != nil) {
		return item{}
	}
	i.finished = true
	return i
}

// numbered is an item and its place in the batch.
type numbered struct {
	n    int
	item item
}

// collect gathers finished items. A worker that is late writes to the buffered
// channel, which nobody reads any more, and not into the batch.
func collect(ctx context.Context, done <-chan numbered, count int) ([]item, error) {
	items := make([]item, count)
	for range count {
		select {
		case d := <-done:
			if d.item.fault != nil {
				return items, d.item.fault
			}
			items[d.n] = d.item
		case <-ctx.Done():
			return items, nil
		}
	}
	return items, nil
}

// checkOne states the facts about one address.
func (s *Server) checkOne(ctx context.Context, view *host.View, email string) (i item) {
	i.facts, i.fault = view.Check(ctx, nil, email, s.Flags)
	if i.fault == nil {
		i.mx, i.dns = s.lookUp(ctx, i.facts.Host)
	}
	return i
}

func finishedItems(items []item) (finished []*item) {
	for n := range items {
		if items[n].finished {
			finished = append(finished, &items[n])
		}
	}
	return finished
}
