package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// listsPoll is the time between two checks of the --lists file. Polling works on
// every file system, unlike notification, and a stat costs next to nothing.
const listsPoll = 2 * time.Second

// watch reloads the files of --lists and --plans on SIGHUP, and that of --lists
// also when it changes. An invalid file is logged and changes nothing.
func (c *serveCmd) watch(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, o *origin) {
	tick := time.NewTicker(listsPoll)
	defer tick.Stop()
	seen := stampOf(c.Lists)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
			seen = stampOf(c.Lists)
			c.reload(ctx, log, o)
		case <-tick.C:
			if now := stampOf(c.Lists); now != seen && now != (stamp{}) {
				seen = now
				c.reloadLists(ctx, log, o.engine)
			}
		}
	}
}

// A stamp identifies a version of a file. It is zero if there is no file.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// reload reloads both files.
func (c *serveCmd) reload(ctx context.Context, log *slog.Logger, o *origin) {
	if c.Lists == "" && c.Plans == "" {
		log.Info("SIGHUP: nothing to reload; only the files of --lists and --plans are reloaded, other settings need a restart")
		return
	}
	if c.Lists != "" {
		c.reloadLists(ctx, log, o.engine)
	}
	if c.Plans == "" {
		return
	}
	if err := storePlans(ctx, o.ledger, c.Plans); err != nil {
		log.Error("the new plans are invalid; the old ones remain in use", "error", err.Error())
		return
	}
	log.Info("reloaded the plans", "plans_file", c.Plans)
}

func (f *moduleFlags) reloadLists(ctx context.Context, log *slog.Logger, engine *host.Engine) {
	before := engine.View().Info().Lists
	blob, err := os.ReadFile(f.Lists)
	if err == nil {
		err = engine.SetLists(ctx, blob)
	}
	if err != nil {
		log.Error("the new lists are invalid; the old ones remain in use", "lists", before, "error", err.Error())
		return
	}
	log.Info("reloaded the lists", "before", before, "lists", engine.View().Info().Lists)
}
