package service

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/signuphook"
)

// watch reloads files on SIGHUP, takes over newer lists, asks the resolvers whether they
// work and sends webhooks, until ctx ends or stop is called. stop returns once all tasks
// have ended: the engine must not be closed before.
func (s *Service) watch(ctx context.Context, hangUp <-chan os.Signal) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	reload := make(chan struct{})
	tasks.Go(func() { s.lists.Watch(ctx, reload) })
	tasks.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangUp:
				s.reload(ctx, reload)
			}
		}
	})
	tasks.Go(func() { s.probing.run(ctx) })
	if s.lists.Source != nil {
		tasks.Go(func() { s.lists.Run(ctx) })
	}
	if s.sendsWebhooks() {
		tasks.Go(func() { s.webhooks.Run(ctx) })
	}
	return func() {
		cancel()
		tasks.Wait()
	}
}

// reload reads the files again. An invalid file is logged and changes nothing.
func (s *Service) reload(ctx context.Context, lists chan<- struct{}) {
	if s.Lists == "" && s.ListsExtra == "" && s.Plans == "" && s.Hooks == "" && s.SecurityTxt == "" && len(s.DNS) > 0 {
		s.log.Info("SIGHUP: nothing to reload; only the files of --lists, --lists-extra, --plans, --hooks and --security-txt and, " +
			"without --dns, /etc/resolv.conf are reloaded, other settings need a restart")
	}
	s.resolver.Reload()
	if s.Lists != "" || s.ListsExtra != "" {
		select {
		case lists <- struct{}{}:
		case <-ctx.Done():
		}
	}
	for _, file := range []struct {
		path, attribute, content string
		load                     func(context.Context) error
	}{
		{s.Plans, "plans_file", "plans", s.loadPlans},
		{s.Hooks, "hooks_file", "sign-up hooks", s.loadHooks},
		{s.SecurityTxt, "security_txt_file", "fields of security.txt", s.loadSecurityTxt},
	} {
		if file.path == "" {
			continue
		}
		if err := file.load(ctx); err != nil {
			s.log.Error("the new "+file.content+" are invalid; the old ones remain in use", "error", err.Error())
			continue
		}
		s.log.Info("reloaded the "+file.content, file.attribute, file.path)
	}
}

func (s *Service) loadPlans(ctx context.Context) error { return StorePlans(ctx, s.ledger, s.Plans) }

// loadHooks reads the file of --hooks, if there is one. A missing account is an error on a reload and
// a warning at the start, because its owner may have deleted it and other hooks must work.
func (s *Service) loadHooks(ctx context.Context) error {
	if s.Hooks == "" {
		return nil
	}
	set, err := signuphook.Load(ctx, s.engine, s.Hooks)
	if err != nil {
		return err
	}
	err = set.CheckAccounts(ctx, s.ledger)
	switch {
	case s.signUps == nil:
		s.signUps = signuphook.NewRegistry(set, signuphook.NewPayers(s.ledger))
		if err != nil {
			s.log.Warn("on_error decides for sign-up hooks without an account", "error", err.Error())
		}
	case err != nil:
		return err
	default:
		s.signUps.Replace(set)
	}
	return nil
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
	plans, err := book.ParsePlans(file)
	if err != nil {
		return fmt.Errorf("plans of %s: %w", path, err)
	}
	return l.StorePlans(ctx, plans)
}
