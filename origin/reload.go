package main

import (
	"context"
	"log/slog"
	"os"
	"sync"
)

// watch reloads the files of --lists, --plans and --hooks on SIGHUP, takes over newer
// lists and probes the resolvers, until ctx ends or stop is called. stop returns once
// what is under way has ended: the engine must not be closed before.
func (c *serveCmd) watch(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, o *origin) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	reload := make(chan struct{})
	tasks.Go(func() { o.lists.Watch(ctx, reload) })
	tasks.Go(func() { c.reload(ctx, log, hangUp, reload, o) })
	tasks.Go(func() { o.probing.run(ctx) })
	if o.lists.Source != nil {
		tasks.Go(func() { o.lists.Run(ctx) })
	}
	return func() {
		cancel()
		tasks.Wait()
	}
}

// reload reloads the files on SIGHUP, until ctx ends. An invalid file is logged
// and changes nothing.
func (c *serveCmd) reload(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, lists chan<- struct{}, o *origin) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
			if c.Lists == "" && c.Plans == "" && c.Hooks == "" {
				log.Info("SIGHUP: nothing to reload; only the files of --lists, --plans and --hooks are reloaded, other settings need a restart")
			}
			if c.Lists != "" {
				send(ctx, lists)
			}
			c.reloadPlans(ctx, log, o)
			c.reloadHooks(log, o)
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

func (c *serveCmd) reloadPlans(ctx context.Context, log *slog.Logger, o *origin) {
	if c.Plans == "" {
		return
	}
	if err := storePlans(ctx, o.ledger, c.Plans); err != nil {
		log.Error("the new plans are invalid; the old ones remain in use", "error", err.Error())
		return
	}
	log.Info("reloaded the plans", "plans_file", c.Plans)
}
