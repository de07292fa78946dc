package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// listsPoll is how often the file of --lists is looked at. A stat every two
// seconds costs nothing and works on every file system, mounted ones included.
const listsPoll = 2 * time.Second

// watchLists takes the file of --lists over whenever it changes, and on
// SIGHUP. A file that is refused changes nothing and is told in the log.
func (f *moduleFlags) watchLists(ctx context.Context, log *slog.Logger, engine *host.Engine) {
	if f.Lists == "" {
		return
	}
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	tick := time.NewTicker(listsPoll)
	defer tick.Stop()
	seen := stampOf(f.Lists)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUp:
			seen = stampOf(f.Lists)
			f.reload(ctx, log, engine)
		case <-tick.C:
			if now := stampOf(f.Lists); now != seen && now != (stamp{}) {
				seen = now
				f.reload(ctx, log, engine)
			}
		}
	}
}

// stamp tells one state of a file from another; zero where there is no file.
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

func (f *moduleFlags) reload(ctx context.Context, log *slog.Logger, engine *host.Engine) {
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
