// Package update keeps the lists of a running service fresh, and fetches
// newer ones for `addrspec lists update`.
//
// A [Source] is a feed: a directory of a web server or of this machine. Its method
// Newer fetches the signature, decides by its statement whether there is
// anything to do, and only then fetches the blob. A [Keeper] has the lists in
// use. It installs newer ones from a feed, and from a file that somebody else
// replaces, and adds the operator's own rows to all of them. Package lists/feed verifies,
// package lists/feed/store has the files, package lists/extra adds the rows.
package update

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	stats    stats
}

// InUse returns the lists in use.
func (k *Keeper) InUse() State { return *k.used.Load() }

// Start chooses the lists to begin with: the file's, or the engine's own, whose
// version is builtIn, with the rows of Extra. With a key, files that do not verify, or are older than
// the built-in lists, are logged and not used, and expired ones are used with a
// warning: a service starts with the newest valid lists that it has. Without a
// key the file is the operator's word, and an unreadable one an error. So is Extra.
func (k *Keeper) Start(ctx context.Context, builtIn string) error {
	k.used.Store(&State{InUse: feed.InUse{Version: builtIn}, From: BuiltIn})
	if err := k.readExtra(); err != nil {
		return fmt.Errorf("--lists-extra: %w", err)
	}
	if err := k.startFile(ctx); err != nil {
		return fmt.Errorf("--lists: %w", err)
	}
	if err := k.startExtra(ctx); err != nil {
		return fmt.Errorf("--lists-extra: %w", err)
	}
	return nil
}

// readExtra reads the rows, so that the first lists are installed with them.
func (k *Keeper) readExtra() (err error) {
	if k.Extra == "" {
		return nil
	}
	k.extra = stampOf(k.Extra)
	k.rows, err = extra.Read(k.Extra)
	return err
}

// startExtra adds the rows to the engine's own lists, if those of no file are in use.
func (k *Keeper) startExtra(ctx context.Context) (err error) {
	used := k.InUse()
	if k.Extra == "" {
		return nil
	}
	if used.From == BuiltIn {
		if k.base, err = extra.Base(nil, used.Version); err != nil {
			return err
		}
		if k.rows.Len() > 0 {
			err = k.install(ctx, k.base, used)
		}
	}
	if err == nil {
		k.Log.Info("added the rows of --lists-extra", "lists", used.Version, "rows", k.rows.Len())
	}
	return err
}

func (k *Keeper) startFile(ctx context.Context) error {
	if k.File.Path == "" {
		return nil
	}
	k.stamps = stampsOf(k.File.Path)
	if k.File.Key.IsZero() {
		return k.startUnsigned(ctx)
	}
	k.startSigned(ctx)
	return nil
}

func (k *Keeper) startSigned(ctx context.Context) {
	release, err := k.File.Read()
	if err == nil {
		_, err = release.Supersedes(k.InUse().InUse)
	}
	if err == nil {
		err = k.install(ctx, release.Blob, stateOf(release, FromFile))
	}
	if err != nil {
		k.Log.Warn("the file of --lists is not used; the built-in lists are", "lists", k.InUse().Version, "error", err.Error())
		return
	}
	k.warnOfExpiry(time.Now())
}

func (k *Keeper) startUnsigned(ctx context.Context) error {
	blob, state, err := k.readUnsigned()
	var refusal *feed.Error
	if errors.As(err, &refusal) && refusal.Reason == feed.OtherFormat {
		k.Log.Warn("the file of --lists is not used; the built-in lists are", "lists", k.InUse().Version, "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	before := k.InUse()
	if err := k.install(ctx, blob, state); err != nil {
		return err
	}
	k.Log.Warn("the lists of --lists are used without a signature; give --lists-key to verify them", "lists", state.Version)
	if older(state, before) {
		k.Log.Warn("the lists of --lists are older than the built-in ones: update the file, or start without --lists", "lists", state.Version, "built_in", before.Version)
	}
	return nil
}

func older(a, b State) bool {
	_, err := feed.Statement{Version: a.Version}.Supersedes(feed.InUse{Version: b.Version})
	return err != nil
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

// reloadExtra reads the rows again.
func (k *Keeper) reloadExtra(ctx context.Context) {
	k.extra = stampOf(k.Extra)
	rows, err := extra.Read(k.Extra)
	if err == nil {
		err = k.replaceRows(ctx, rows)
	}
	if err != nil {
		k.Log.Error("the new rows of --lists-extra are invalid; the old ones remain in use", "lists", k.InUse().Version, "error", err.Error())
		return
	}
	k.Log.Info("reloaded the rows of --lists-extra", "lists", k.InUse().Version, "rows", rows.Len())
}

// replaceRows adds other rows to the lists in use.
func (k *Keeper) replaceRows(ctx context.Context, rows *extra.Rows) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.rows
	k.rows = rows
	err := k.install(ctx, k.base, k.InUse())
	if err != nil {
		k.rows = before
	}
	return err
}

func (k *Keeper) reloadFile(ctx context.Context) {
	k.stamps = stampsOf(k.File.Path)
	before := k.InUse()
	changed, err := k.reload(ctx)
	switch {
	case err != nil:
		k.Log.Error("the new lists are invalid; the old ones remain in use", "lists", before.Version, "error", err.Error())
	case changed:
		k.Log.Info("reloaded the lists", "before", before.Version, "lists", k.InUse().Version)
	}
}

func (k *Keeper) reload(ctx context.Context) (changed bool, err error) {
	if k.File.Key.IsZero() {
		return k.reloadUnsigned(ctx)
	}
	release, err := k.File.Read()
	if err != nil {
		return false, err
	}
	return k.takeOver(ctx, release, FromFile)
}

func (k *Keeper) reloadUnsigned(ctx context.Context) (changed bool, err error) {
	blob, state, err := k.readUnsigned()
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.install(ctx, blob, state)
	return err == nil, err
}

// readUnsigned reads the file without a key.
func (k *Keeper) readUnsigned() ([]byte, State, error) {
	blob, err := store.ReadBlob(k.File.Path)
	if err != nil {
		return nil, State{}, err
	}
	summary, err := feed.DescribeBlob(blob)
	return blob, State{InUse: feed.InUse{Version: summary.Version}, From: FromFile}, err
}

func stateOf(r *feed.Release, from Origin) State {
	return State{InUse: feed.InUse{Version: r.Version, Signed: r.Signed}, Expires: r.Expires, From: from}
}

// takeOver installs a release if it is newer than the lists in use.
func (k *Keeper) takeOver(ctx context.Context, r *feed.Release, from Origin) (changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	newer, err := check(r.Statement, k.InUse().InUse, time.Now())
	if err != nil || !newer {
		return false, err
	}
	err = k.install(ctx, r.Blob, stateOf(r, from))
	return err == nil, err
}

// install makes lists, with the rows of Extra, those in use. Batches in progress keep the
// lists with which they began.
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
	k.stats.updates.Add(1)
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

// Stats are counted since the start.
type Stats struct {
	Attempt  time.Time // when the feed was last looked at; zero if never
	Success  time.Time // when that last succeeded, also if nothing was new
	Updates  int64     // lists taken into use, from the feed or the files
	Failures map[feed.Reason]int64
}

type stats struct {
	attempt, success, updates atomic.Int64
	mu                        sync.Mutex
	failures                  map[feed.Reason]int64
}

func (s *stats) failed(reason feed.Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == nil {
		s.failures = map[feed.Reason]int64{}
	}
	s.failures[reason]++
}

// Stats returns the statistics. Failures has every reason.
func (k *Keeper) Stats() Stats {
	s := Stats{timeOf(&k.stats.attempt), timeOf(&k.stats.success), k.stats.updates.Load(), map[feed.Reason]int64{}}
	k.stats.mu.Lock()
	defer k.stats.mu.Unlock()
	for _, reason := range feed.Reasons {
		s.Failures[reason] = k.stats.failures[reason]
	}
	return s
}

func timeOf(nanoseconds *atomic.Int64) time.Time {
	if n := nanoseconds.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
