package listupdate

import (
	"context"
	"os"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// poll is the time between two looks at the file. Polling works on every file
// system, unlike notification, which networks' and some containers' file systems
// lack; and two stats cost next to nothing.
const poll = 2 * time.Second

// Watch takes over what others write to the file, until ctx ends. reload makes it
// read the file at once.
func (k *Keeper) Watch(ctx context.Context, reload <-chan struct{}) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-reload:
			k.Reload(ctx)
		case now := <-tick.C:
			k.poll(ctx, now)
		}
	}
}

func (k *Keeper) poll(ctx context.Context, now time.Time) {
	if k.File.Path != "" {
		if stamps := stampsOf(k.File.Path); stamps != k.stamps && stamps[0] != (stamp{}) {
			k.Reload(ctx)
		}
	}
	k.warnOfExpiry(now)
}

// A stamp identifies a version of a file. It is zero if there is no file.
type stamp struct {
	modified time.Time
	size     int64
}

// stampsOf returns the stamps of the blob and of its signature, which may be
// copied one after the other.
func stampsOf(path string) [2]stamp {
	return [2]stamp{stampOf(path), stampOf(path + feed.Suffix)}
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}
