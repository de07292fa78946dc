// Package update keeps the lists of a running service fresh, and fetches
// newer ones for `addrspec lists update`.
//
// A [Source] is a feed: a directory of a web server or of this machine. A [Keeper] has the
// lists in use. It installs newer ones from a feed, and from a file that somebody else
// replaces, and adds the operator's own rows to all of them. Package lists/feed verifies,
// package lists/feed/store has the files, package lists/extra adds the rows.
package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/lists/extra"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/store"
)

// Engine uses the lists: *host.Engine.
type Engine interface {
	// SetLists replaces the lists while callers continue.
	SetLists(ctx context.Context, blob []byte) error
}

// Origin is where lists came from.
type Origin string

// The origins.
const (
	BuiltIn  Origin = "built-in"
	FromFile Origin = "file"
	FromFeed Origin = "feed"
)

// State describes the lists in use.
type State struct {
	feed.InUse
	Expires time.Time // zero without a signature
	From    Origin
	Rows    int // of Keeper.Extra, which are not in the version
}

func stateOf(r *feed.Release, from Origin) State {
	return State{InUse: feed.InUse{Version: r.Version, Signed: r.Signed}, Expires: r.Expires, From: from}
}

func (s State) statement() feed.Statement {
	return feed.Statement{Version: s.Version, Signed: s.Signed, Expires: s.Expires}
}

// Keeper has the lists in use.
type Keeper struct {
	Engine Engine
	File   store.File // an empty path means no file
	Extra  string     // the operator's rows, for package extra; an empty path means none
	Source *Source    // nil means no feed
	Log    *slog.Logger

	// Interval is the time between two looks at the feed, give or take a tenth.
	Interval time.Duration

	mu       sync.Mutex // held while lists are compared and installed
	used     atomic.Pointer[State]
	base     []byte        // the lists in use, without rows; nil before Start
	rows     *extra.Rows   // those in use
	warned   time.Time     // the expiry that was logged
	stamps   [2]stamp      // of the file and its signature, when they were last read
	extra    stamp         // of Extra, likewise
	failing  feed.Reason   // why the last look at the feed failed; for one log line per reason
	unstored *feed.Release // from the feed, and not yet in the file

	statsMu sync.Mutex
	stats   Stats
}

// InUse returns the lists in use.
func (k *Keeper) InUse() State { return *k.used.Load() }

// Start chooses the lists to begin with: the file's, or the engine's own, whose
// version is builtIn, with the rows of Extra. With a key, a file that does not verify or is
// older than the built-in lists is logged and not used, and an expired one is used with a
// warning. Without a key an unreadable file is an error. So is Extra.
func (k *Keeper) Start(ctx context.Context, builtIn string) (err error) {
	k.used.Store(&State{InUse: feed.InUse{Version: builtIn}, From: BuiltIn})
	if k.Extra != "" { // first, since the file's lists are installed with the rows
		k.extra = stampOf(k.Extra)
		k.rows, err = extra.Read(k.Extra)
		if err != nil {
			return fmt.Errorf("--lists-extra: %w", err)
		}
	}
	if k.File.Path != "" {
		if err := k.startFile(ctx); err != nil {
			return fmt.Errorf("--lists: %w", err)
		}
	}
	if k.Extra == "" {
		return nil
	}
	if used := k.InUse(); used.From == BuiltIn {
		k.base, err = extra.Base(nil, used.Version)
		if err == nil && k.rows.Len() > 0 {
			err = k.install(ctx, k.base, used)
		}
		if err != nil {
			return fmt.Errorf("--lists-extra: %w", err)
		}
	}
	k.Log.Info("added the rows of --lists-extra", "lists", k.InUse().Version, "rows", k.rows.Len())
	return nil
}

func (k *Keeper) startFile(ctx context.Context) error {
	k.stamps = stampsOf(k.File.Path)
	builtIn, signed := k.InUse(), !k.File.Key.IsZero()
	blob, state, err := k.readFile()
	_, older := state.statement().Supersedes(builtIn.InUse)
	if err == nil && signed {
		err = older
	}
	if err == nil {
		err = k.install(ctx, blob, state)
	}
	switch {
	case err != nil && (signed || reasonOf(err) == feed.OtherFormat):
		k.Log.Warn("the file of --lists is not used; the built-in lists are", "lists", builtIn.Version, "error", err.Error())
		return nil
	case err != nil:
		return err
	case signed:
		k.warnOfExpiry(time.Now())
		return nil
	}
	k.Log.Warn("the lists of --lists are used without a signature; give --lists-key to verify them", "lists", state.Version)
	if older != nil {
		k.Log.Warn("the lists of --lists are older than the built-in ones: update the file, or start without --lists", "lists", state.Version, "built_in", builtIn.Version)
	}
	return nil
}

func (k *Keeper) readFile() ([]byte, State, error) {
	if !k.File.Key.IsZero() {
		release, err := k.File.Read()
		if err != nil {
			return nil, State{}, err
		}
		return release.Blob, stateOf(release, FromFile), nil
	}
	blob, err := store.ReadBlob(k.File.Path)
	if err != nil {
		return nil, State{}, err
	}
	summary, err := feed.DescribeBlob(blob)
	return blob, State{InUse: feed.InUse{Version: summary.Version}, From: FromFile}, err
}

// Reload reads the files again and logs changes.
func (k *Keeper) Reload(ctx context.Context) {
	if k.File.Path != "" {
		k.reloadFile(ctx)
	}
	if k.Extra != "" {
		k.reloadExtra(ctx)
	}
}

func (k *Keeper) reloadFile(ctx context.Context) {
	k.stamps = stampsOf(k.File.Path)
	before, changed := k.InUse(), false
	blob, state, err := k.readFile()
	if err == nil {
		changed, err = k.takeOver(ctx, blob, state)
	}
	if err != nil {
		k.Log.Error("the new lists are invalid; the old ones remain in use", "lists", before.Version, "error", err.Error())
	} else if changed {
		k.Log.Info("reloaded the lists", "before", before.Version, "lists", k.InUse().Version)
	}
}

func (k *Keeper) reloadExtra(ctx context.Context) {
	k.extra = stampOf(k.Extra)
	rows, err := extra.Read(k.Extra)
	if err == nil {
		k.mu.Lock()
		before := k.rows
		k.rows = rows
		err = k.install(ctx, k.base, k.InUse())
		if err != nil {
			k.rows = before
		}
		k.mu.Unlock()
	}
	if err != nil {
		k.Log.Error("the new rows of --lists-extra are invalid; the old ones remain in use", "lists", k.InUse().Version, "error", err.Error())
		return
	}
	k.Log.Info("reloaded the rows of --lists-extra", "lists", k.InUse().Version, "rows", rows.Len())
}

// takeOver installs lists: signed ones only if they are newer than the lists in use.
func (k *Keeper) takeOver(ctx context.Context, blob []byte, s State) (changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !s.Signed.IsZero() {
		newer, err := check(s.statement(), k.InUse().InUse, time.Now())
		if err != nil || !newer {
			return false, err
		}
	}
	err = k.install(ctx, blob, s)
	return err == nil, err
}

func (k *Keeper) install(ctx context.Context, blob []byte, s State) error {
	merged, err := k.rows.AddTo(blob)
	if err == nil {
		err = k.Engine.SetLists(ctx, merged)
	}
	if err != nil {
		return &feed.Error{Reason: feed.Installing, Text: err.Error()}
	}
	if k.Extra != "" {
		k.base, s.Rows = blob, k.rows.Len()
	}
	k.used.Store(&s)
	k.count(func(s *Stats) { s.Updates++ })
	return nil
}

// warnOfExpiry logs once that the lists in use have expired.
func (k *Keeper) warnOfExpiry(now time.Time) {
	used := k.InUse()
	if used.Expires.IsZero() || now.Before(used.Expires) || used.Expires.Equal(k.warned) {
		return
	}
	k.warned = used.Expires
	k.Log.Warn("the lists in use have expired and remain in use: see that the feed is signed again and reached", "lists", used.Version, "expired", used.Expires)
}

// Limits of the interval.
const (
	ShortestInterval = time.Second
	LongestInterval  = 7 * 24 * time.Hour
)

// Run looks at the feed now and after every interval, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	for failures := 0; ; {
		if k.Update(ctx) == nil {
			failures = 0
		} else {
			failures++
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(k.wait(failures)):
		}
	}
}

// wait returns the time until the next look at the feed: the interval, or after a failure
// a minute, which doubles with each further one. It differs by up to a tenth, so that the
// replicas of a service do not all ask at the same moment.
func (k *Keeper) wait(failures int) time.Duration {
	wait := k.Interval
	if failures > 0 {
		wait = min(wait, time.Minute<<min(failures-1, 20))
	}
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
}

// Update looks at the feed once. Newer lists are installed and stored in the
// file. If that fails, the lists in use remain.
func (k *Keeper) Update(ctx context.Context) error {
	now, before := time.Now(), k.InUse()
	k.count(func(s *Stats) { s.Attempt = now })
	release, err := k.Source.Newer(ctx, k.File.Key, before.InUse, now)
	if err == nil && release != nil {
		var changed bool
		changed, err = k.takeOver(ctx, release.Blob, stateOf(release, FromFeed))
		if changed {
			k.Log.Info("took over lists from the feed", "before", before.Version, "lists", release.Version, "expires", release.Expires)
			k.unstored = release
		}
	}
	if err == nil {
		err = k.store()
	}
	if ctx.Err() == nil { // else the service stops
		k.record(err)
	}
	return err
}

// store stores the lists that the feed had, so that a restart finds them. If that
// fails, the next look at the feed tries again.
func (k *Keeper) store() error {
	if k.File.Path == "" || k.unstored == nil {
		return nil
	}
	errStored := errors.New("another replica wrote these lists, or newer ones")
	err := k.File.Write(k.unstored, func(file *feed.Release) error {
		if file == nil {
			return nil
		}
		newer, err := k.unstored.Supersedes(feed.InUse{Version: file.Version, Signed: file.Signed})
		if err != nil || !newer {
			return errStored
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStored) {
		return &feed.Error{Reason: feed.Storing, Text: "the new lists are in use, but a restart begins with old ones, since they could not be stored in the file of --lists: " + err.Error()}
	}
	k.unstored = nil
	return nil
}

// Stats are counted since the start.
type Stats struct {
	Attempt  time.Time // when the feed was last looked at; zero if never
	Success  time.Time // when that last succeeded, also if nothing was new
	Updates  int64     // lists taken into use, from the feed or the files
	Failures map[feed.Reason]int64
}

// Stats returns the statistics. Failures has every reason.
func (k *Keeper) Stats() Stats {
	k.statsMu.Lock()
	defer k.statsMu.Unlock()
	s := k.stats
	s.Failures = map[feed.Reason]int64{}
	for _, reason := range feed.Reasons {
		s.Failures[reason] = 0
	}
	maps.Copy(s.Failures, k.stats.Failures)
	return s
}

func (k *Keeper) count(change func(s *Stats)) {
	k.statsMu.Lock()
	defer k.statsMu.Unlock()
	change(&k.stats)
}

// record counts the outcome of a look at the feed. It logs a failure unless the one before
// had the same reason, and the first success after a failure.
func (k *Keeper) record(err error) {
	before := k.failing
	if err == nil {
		k.count(func(s *Stats) { s.Success = time.Now() })
		k.failing = ""
		if before != "" {
			k.Log.Info("the feed of lists works again", "lists", k.InUse().Version)
		}
		return
	}
	k.failing = reasonOf(err)
	k.count(func(s *Stats) {
		if s.Failures == nil {
			s.Failures = map[feed.Reason]int64{}
		}
		s.Failures[k.failing]++
	})
	if k.failing != before {
		k.Log.Error("the lists were not updated", "lists", k.InUse().Version, "reason", string(k.failing), "error", err.Error())
	}
}

// poll is the time between two looks at the file. Some file systems have no notification.
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

func stampsOf(path string) [2]stamp { return [2]stamp{stampOf(path), stampOf(path + feed.Suffix)} }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}
