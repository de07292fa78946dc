package update

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// Limits of the interval.
const (
	ShortestInterval = time.Second
	LongestInterval  = 7 * 24 * time.Hour
)

// firstRetry is the time from the first failure to the next attempt; it doubles
// with each further one, up to the interval.
const firstRetry = time.Minute

// Run looks at the feed now and after every interval, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	for failures := 0; ; {
		if k.Update(ctx) == nil {
			failures = 0
		} else {
			failures++
		}
		if pause(ctx, k.wait(failures)) != nil {
			return
		}
	}
}

// wait returns the time until the next look at the feed. It differs by up to a
// tenth, so that the replicas of a service do not all ask at the same moment.
func (k *Keeper) wait(failures int) time.Duration {
	wait := k.Interval
	if failures > 0 {
		wait = min(wait, firstRetry<<min(failures-1, 20))
	}
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
}

// Update looks at the feed once. Newer lists are installed and stored in the
// file. If that fails, the lists in use remain.
func (k *Keeper) Update(ctx context.Context) error {
	k.stats.attempt.Store(time.Now().UnixNano())
	release, err := k.Source.Newer(ctx, k.File.Key, k.InUse().InUse, time.Now())
	if err == nil && release != nil {
		err = k.use(ctx, release)
	}
	if err == nil {
		err = k.store()
	}
	if ctx.Err() == nil { // else the service stops
		k.record(err)
	}
	return err
}

// use installs a release.
func (k *Keeper) use(ctx context.Context, r *feed.Release) error {
	before := k.InUse()
	changed, err := k.takeOver(ctx, r, FromFeed)
	if err != nil || !changed {
		return err
	}
	k.Log.Info("took over lists from the feed", "before", before.Version, "lists", r.Version, "expires", r.Expires)
	k.unstored = r
	return nil
}

// store stores the lists that the feed had, so that a restart finds them. If that
// fails, the next look at the feed tries again.
func (k *Keeper) store() error {
	if k.File.Path == "" || k.unstored == nil {
		return nil
	}
	r := k.unstored
	err := k.File.Write(r, func(file *feed.Release) error { return unlessStored(r, file) })
	if err != nil && !errors.Is(err, errStored) {
		return &feed.Error{Reason: feed.Storing, Text: "the new lists are in use, but a restart begins with old ones, since they could not be stored in the file of --lists: " + err.Error()}
	}
	k.unstored = nil
	return nil
}

// errStored means that the file is up to date: another replica wrote it.
var errStored = errors.New("the file has these lists already")

// unlessStored returns errStored unless r is newer than the lists in the file.
func unlessStored(r, file *feed.Release) error {
	if file == nil {
		return nil
	}
	if newer, err := r.Supersedes(feed.InUse{Version: file.Version, Signed: file.Signed}); err != nil || !newer {
		return errStored
	}
	return nil
}

// record counts the outcome of a look at the feed. It logs a failure unless the
// one before had the same reason, and the first success after a failure.
func (k *Keeper) record(err error) {
	if err == nil {
		k.stats.success.Store(time.Now().UnixNano())
		if k.failing != "" {
			k.Log.Info("the feed of lists works again", "lists", k.InUse().Version)
		}
		k.failing = ""
		return
	}
	reason := reasonOf(err)
	k.stats.failed(reason)
	if reason != k.failing {
		k.Log.Error("the lists were not updated", "lists", k.InUse().Version, "reason", string(reason), "error", err.Error())
	}
	k.failing = reason
}

// poll is the time between two looks at the file. Polling works on every file
// system, unlike notification, which networks' and some containers' file systems
// lack; and two stats cost next to nothing.
const poll = 2 * time.Second

// Watch takes over lists and rows that others write to the files, until ctx ends. reload
// makes it read them at once.
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
			k.reloadFile(ctx)
		}
	}
	if k.Extra != "" {
		if now := stampOf(k.Extra); now != k.extra && now != (stamp{}) {
			k.reloadExtra(ctx)
		}
	}
	k.warnOfExpiry(now)
}

// A stamp identifies a version of a file. It is zero if there is no file. The mode is in
// it because a file that could not be read has to be read again after chmod.
type stamp struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
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
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}
