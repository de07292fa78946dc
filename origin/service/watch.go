package service

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/signuphook"
)

// watch reloads the files of --lists, --lists-extra, --plans and --hooks and /etc/resolv.conf on SIGHUP, takes over newer
// lists, asks the resolvers whether they work and sends webhooks, until ctx ends or stop is called. stop
// returns once all tasks have ended: the engine must not be closed before.
func (s *Service) watch(ctx context.Context, hangUp <-chan os.Signal) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	reload := make(chan struct{})
	tasks.Go(func() { s.lists.Watch(ctx, reload) })
	tasks.Go(func() { s.reload(ctx, hangUp, reload) })
	tasks.Go(func() { s.probing.run(ctx) })
	if s.lists.Source != nil {
		tasks.Go(func() { s.lists.Run(ctx) })
	}
	if s.webhooks != nil {
		tasks.Go(func() { s.webhooks.Run(ctx) })
	}
	return func() {
		cancel()
		tasks.Wait()
	}
}

// reload reloads the files on SIGHUP, until ctx ends. An invalid file is logged
// and changes nothing.
func (s *Service) reload(ctx context.Context, hangUp <-chan os.Signal, lists chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
			if s.Lists == "" && s.ListsExtra == "" && s.Plans == "" && s.Hooks == "" && len(s.DNS) > 0 {
				s.log.Info("SIGHUP: nothing to reload; only the files of --lists, --lists-extra, --plans and --hooks and, without --dns, /etc/resolv.conf are reloaded, other settings need a restart")
			}
			s.resolver.Reload()
			if s.Lists != "" || s.ListsExtra != "" {
				send(ctx, lists)
			}
			s.reloadPlans(ctx)
			s.reloadHooks(ctx)
		}
	}
}

// send sends on a channel whose receiver ends with ctx.
func send(ctx context.Context, to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	case <-ctx.Done():
	}
}

func (s *Service) reloadPlans(ctx context.Context) {
	if s.Plans == "" {
		return
	}
	if err := StorePlans(ctx, s.ledger, s.Plans); err != nil {
		s.log.Error("the new plans are invalid; the old ones remain in use", "error", err.Error())
		return
	}
	s.log.Info("reloaded the plans", "plans_file", s.Plans)
}

// How long after asking the resolvers they are asked again, while one lies or none has
// responded, or else; and how long they are asked, whatever --dns-timeout is, so that a
// silent one does not delay the next time.
const (
	resolverTroublePause = 5 * time.Second
	resolverPause        = 2 * time.Minute
	resolverAsked        = 10 * time.Second
)

// A resolverWatch finds out, while the service serves, whether a resolver responds and
// whether one lies. A resolver may start later, and requests that need no MX do not
// depend on it. Once one has responded, the outcomes of lookups show whether they do,
// but not whether they lie.
type resolverWatch struct {
	resolver            *mx.Resolver
	log                 *slog.Logger
	strict              bool // --dns-strict
	pause, troublePause time.Duration

	succeeded atomic.Bool
	failures  int // probes that failed
	lying     int // resolvers, when they were last asked
}

// run asks the resolvers until ctx ends.
func (w *resolverWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		var probe sync.WaitGroup
		probe.Go(func() { w.probe(ctx) })
		w.verify(ctx)
		probe.Wait()
		if w.lying > 0 || !w.succeeded.Load() {
			pause(ctx, w.troublePause)
		} else {
			pause(ctx, w.pause)
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

// verify logs when a resolver begins to lie, and when none does any more.
func (w *resolverWatch) verify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, resolverAsked)
	defer cancel()
	lies, _ := w.resolver.Verify(ctx)
	before := w.lying
	w.lying = w.resolver.Stats().Lying
	switch {
	case lies != nil && w.lying > before && w.strict:
		w.log.Error("a resolver lies, so its replies are not used (--dns-strict): lookups fail unless another one is sound", "error", lies.Error())
	case lies != nil && w.lying > before:
		w.log.Warn("a resolver lies, so mx is false for domains that have MX records; with --dns-strict such lookups would fail", "error", lies.Error())
	case w.lying == 0 && before > 0:
		w.log.Info("no resolver lies any more")
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// value is 1 once a resolver has responded, for the metric.
func (w *resolverWatch) value() float64 {
	if w.succeeded.Load() {
		return 1
	}
	return 0
}

// openHooks reads the file of --hooks. An account may
// be created later, so a missing one is a warning.
func (s *Service) openHooks(ctx context.Context) error {
	if s.Hooks == "" {
		return nil
	}
	set, err := s.loadHooks(ctx)
	if err != nil {
		return err
	}
	for _, h := range set.Hooks() {
		if _, err := s.ledger.AccountByEmail(ctx, h.Account); err != nil {
			s.log.Warn("the account that pays for the sign-up hook "+h.Name+" cannot be found; its calls are decided by on_error", "error", err.Error())
		}
	}
	s.signUps = signuphook.NewRegistry(set, signuphook.NewPayers(s.ledger))
	return nil
}

// loadHooks reads the file, and logs which hooks have settings from before policies.
func (s *Service) loadHooks(ctx context.Context) (*signuphook.Set, error) {
	set, err := signuphook.Load(ctx, s.engine, s.Hooks)
	if err != nil {
		return nil, err
	}
	for _, h := range set.Hooks() {
		if advice := h.Advice(); advice != "" {
			s.log.Warn("the sign-up hook "+h.Name+" has no policy yet: "+advice, "hooks_file", s.Hooks)
		}
	}
	return set, nil
}

// reloadHooks reads the file, its secrets and policies again. An invalid file changes
// nothing.
func (s *Service) reloadHooks(ctx context.Context) {
	if s.signUps == nil {
		return
	}
	set, err := s.loadHooks(ctx)
	if err != nil {
		s.log.Error("the new sign-up hooks are invalid; the old ones remain in use", "error", err.Error())
		return
	}
	s.signUps.Replace(set)
	s.log.Info("reloaded the sign-up hooks", "hooks_file", s.Hooks, "hooks", len(set.Hooks()))
}

// HangUps returns a channel of SIGHUP signals, on which the service reloads its
// files. Unhandled, the signal would end the process even when there is nothing
// to reload.
func HangUps() (arrived <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// IgnoreBrokenPipe makes a write to standard output or standard error return an
// error once its reader has closed. By default Go's runtime then ends the process,
// which is right for a command in a pipe (os/signal, "SIGPIPE").
func IgnoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }

// StorePlans stores the plans of a file. Without a path it does nothing.
func StorePlans(ctx context.Context, l *ledger.Ledger, path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	defer file.Close()
	plans, err := ledger.ParsePlans(file)
	if err != nil {
		return fmt.Errorf("plans of %s: %w", path, err)
	}
	return l.StorePlans(ctx, plans)
}
