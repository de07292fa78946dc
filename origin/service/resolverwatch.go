package service

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
)

// resolverAsked is how long the resolvers are asked whether they lie, whatever --dns-timeout
// is, so that a silent one does not delay the next time.
const resolverAsked = 10 * time.Second

// A resolverWatch finds out, while the service serves, whether a resolver responds and
// whether one lies. A resolver may start later, and requests that need no MX do not
// depend on it. Once one has responded, the outcomes of lookups show whether they do,
// but not whether they lie.
type resolverWatch struct {
	resolver            *mx.Resolver
	log                 *slog.Logger
	strict              bool          // --dns-strict
	pause, troublePause time.Duration // until they are asked again; troublePause while one lies or none has responded

	succeeded atomic.Bool
	failures  int // probes that failed
}

// run asks the resolvers until ctx ends. It logs when a resolver begins to lie, and when
// none does any more.
func (w *resolverWatch) run(ctx context.Context) {
	lying := 0
	for ctx.Err() == nil {
		var probing sync.WaitGroup
		probing.Go(func() { w.probe(ctx) })
		verifying, cancel := context.WithTimeout(ctx, resolverAsked)
		lies, _ := w.resolver.Verify(verifying)
		cancel()
		probing.Wait()
		before := lying
		lying = w.resolver.Stats().Lying
		switch {
		case lies != nil && lying > before && w.strict:
			w.log.Error("a resolver lies, so its replies are not used (--dns-strict): lookups fail unless another one is sound",
				"error", lies.Error())
		case lies != nil && lying > before:
			w.log.Warn("a resolver lies, so mx is false for domains that have MX records; with --dns-strict such lookups would fail",
				"error", lies.Error())
		case lying == 0 && before > 0:
			w.log.Info("no resolver lies any more")
		}
		pause := w.pause
		if lying > 0 || !w.succeeded.Load() {
			pause = w.troublePause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// probe probes until a resolver has responded. It logs the first failure, and the
// response after a failure.
func (w *resolverWatch) probe(ctx context.Context) {
	if w.succeeded.Load() {
		return
	}
	err := w.resolver.Probe(ctx)
	switch {
	case err == nil:
		w.succeeded.Store(true)
		if w.failures > 0 {
			w.log.Info("a resolver responds now", "failed_probes", w.failures)
		}
	case w.failures == 0 && ctx.Err() == nil: // else the service stops
		w.log.Warn("MX lookups will fail until a resolver responds; see --dns", "error", err.Error())
	}
	w.failures++
}
