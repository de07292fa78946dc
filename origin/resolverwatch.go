package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// probePause is the time between two probes while no resolver answers.
const probePause = 15 * time.Second

// A resolverWatch finds out whether a resolver answers, while the service serves: a
// resolver may start later, and requests that need no MX do not depend on it. Once
// one has answered, the outcomes of look-ups show how the resolvers do.
type resolverWatch struct {
	resolver interface{ Probe(context.Context) error }
	log      *slog.Logger
	pause    time.Duration
	answered atomic.Bool
}

// run probes until a resolver answers or ctx ends. It logs the first failure, and the
// answer after a failure.
func (w *resolverWatch) run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		err := w.resolver.Probe(ctx)
		if err == nil {
			w.succeed(failures)
			return
		}
		if failures == 0 && ctx.Err() == nil { // else the service stops
			w.log.Warn("MX look-ups will fail until a resolver answers; see --dns", "error", err.Error())
		}
		pause(ctx, w.pause)
	}
}

func (w *resolverWatch) succeed(failures int) {
	w.answered.Store(true)
	if failures > 0 {
		w.log.Info("a resolver answers now", "failed_probes", failures)
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// value is 1 once a resolver has answered, for the metric.
func (w *resolverWatch) value() float64 {
	if w.answered.Load() {
		return 1
	}
	return 0
}
