package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// listsPoll is how often the file of --lists is looked at. A stat every two
// seconds costs nothing and works on every file system, mounted ones included.
const listsPoll = 2 * time.Second

// watch takes the files of --lists and --plans over on SIGHUP, and that of
// --lists whenever it changes. A file that is refused changes nothing and is
// logged.
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

// A stamp differs between two states of a file; it is zero without a file.
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

// reload reads all files anew.
func (c *serveCmd) reload(ctx context.Context, log *slog.Logger, o *origin) {
	if c.Lists == "" && c.Plans == "" {
		log.Info("SIGHUP: there is nothing to reload; other settings change with a restart, and --lists and --plans name files that are read anew")
		return
	}
	if c.Lists != "" {
		c.reloadLists(ctx, log, o.engine)
	}
	if c.Plans == "" {
		return
	}
	if err := storePlans(ctx, o.ledger, c.Plans); err != nil {
		log.Error("the new plans were refused; the old ones stay", "error", err.Error())
		return
	}
	log.Info("took over the plans", "plans_file", c.Plans)
}

func (f *moduleFlags) reloadLists(ctx context.Context, log *slog.Logger, engine *host.Engine) {
	before := engine.View().Info().Lists
	blob, err := os.ReadFile(f.Lists)
	if err == nil {
		err = engine.SetLists(ctx, blob)
	}
	if err != nil {
		log.Error("the new lists were refused; the old ones stay", "lists", before, "error", err.Error())
		return
	}
	log.Info("took over new lists", "before", before, "lists", engine.View().Info().Lists)
}
