package main

import (
	"context"
	"log/slog"
	"os"
)

// watch reloads the files of --lists and --plans on SIGHUP, and that of --lists
// also when it changes. An invalid file is logged and changes nothing.
func (c *serveCmd) watch(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, o *origin) {
	lists := make(chan struct{})
	go o.lists.Watch(ctx, lists)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
			if c.Lists == "" && c.Plans == "" {
				log.Info("SIGHUP: nothing to reload; only the files of --lists and --plans are reloaded, other settings need a restart")
			}
			if c.Lists != "" {
				send(ctx, lists)
			}
			c.reloadPlans(ctx, log, o)
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
