package update_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// engine records the lists that it gets.
type engine struct {
	mu      sync.Mutex
	blobs   [][]byte
	refuses bool
}

func (e *engine) SetLists(_ context.Context, blob []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuses {
		return errors.New("the module refused the lists")
	}
	e.blobs = append(e.blobs, blob)
	return nil
}

// keeper returns a keeper with a file of a test and the site's feed.
func keeper(t *testing.T, s *site) (*update.Keeper, *engine, *origintest.Log) {
	t.Helper()
	e, log := new(engine), new(origintest.Log)
	k := &update.Keeper{
		Engine: e, Source: s.source(t), Interval: 6 * time.Hour, Log: slog.New(slog.NewTextHandler(log, nil)),
		File: store.File{Path: filepath.Join(t.TempDir(), "lists.blob"), Key: s.secret.Public()},
	}
	return k, e, log
}

func start(t *testing.T, k *update.Keeper) {
	t.Helper()
	require.NoError(t, k.Start(t.Context(), builtIn.Version))
}

// An update is installed, stored and found by the next start.
func TestUpdate(t *testing.T) {
	s, want := newSite(t, now())
	k, e, log := keeper(t, s)
	start(t, k)
	require.Equal(t, update.BuiltIn, k.InUse().From)
	require.Contains(t, log.String(), "the built-in lists are") // the file does not exist yet
	require.NoError(t, k.Update(t.Context()))
	require.Equal(t, update.State{InUse: inUse(want), Expires: want.Expires, From: update.FromFeed}, k.InUse())
	require.Len(t, e.blobs, 1)
	require.NoError(t, k.Update(t.Context()), "nothing new")
	k.Poll(now())
	require.Len(t, e.blobs, 1, "the keeper does not reload what it stored itself")
	stats := k.Stats()
	require.False(t, stats.Success.Before(stats.Attempt.Add(-time.Second)))
	require.Equal(t, int64(1), stats.Updates)

	next, e2, _ := keeper(t, s)
	next.File = k.File
	start(t, next)
	require.Equal(t, update.State{InUse: inUse(want), Expires: want.Expires, From: update.FromFile}, next.InUse())
	require.Equal(t, want.Blob, e2.blobs[0])
}

// A failure is logged once for each reason, counted, and changes nothing.
func TestFailuresAreLoggedOncePerReason(t *testing.T) {
	s, first := newSite(t, now())
	k, e, log := keeper(t, s)
	start(t, k)
	require.NoError(t, k.Update(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "lists.blob.minisig"), []byte("x"), 0o600))
	for range 3 {
		require.Error(t, k.Update(t.Context()))
	}
	require.Equal(t, 1, strings.Count(log.String(), "were not updated"), log)
	s.Close()
	for range 2 {
		require.Error(t, k.Update(t.Context()))
	}
	require.Equal(t, 2, strings.Count(log.String(), "were not updated"), log)
	require.Equal(t, inUse(first), k.InUse().InUse)
	require.Len(t, e.blobs, 1)
	stats := k.Stats()
	require.Equal(t, int64(3), stats.Failures[feed.BadSignature])
	require.Equal(t, int64(2), stats.Failures[feed.Fetching])
	require.Equal(t, int64(0), stats.Failures[feed.Older])
	require.Len(t, stats.Failures, len(feed.Reasons))
}

func TestRecoveryIsLogged(t *testing.T) {
	s, release := newSite(t, now())
	k, e, log := keeper(t, s)
	start(t, k)
	e.refuses = true
	requireReason(t, k.Update(t.Context()), feed.Installing, "the module refused")
	require.Equal(t, update.BuiltIn, k.InUse().From)
	e.refuses = false
	require.NoError(t, k.Update(t.Context()))
	require.Equal(t, inUse(release), k.InUse().InUse)
	require.Contains(t, log.String(), "the feed of lists works again")
}

// Lists that cannot be stored are in use; the next look at the feed stores them.
func TestStoringIsTriedAgain(t *testing.T) {
	s, want := newSite(t, now())
	k, _, _ := keeper(t, s)
	dir := filepath.Join(t.TempDir(), "later")
	k.File.Path = filepath.Join(dir, "lists.blob")
	start(t, k)
	requireReason(t, k.Update(t.Context()), feed.Storing, "could not be stored")
	require.Equal(t, inUse(want), k.InUse().InUse)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, k.Update(t.Context()))
	got, err := k.File.Read()
	require.NoError(t, err)
	require.Equal(t, want.Statement, got.Statement)
}

// What the file has at the start, with a key.
func TestStartWithAKey(t *testing.T) {
	s, good := newSite(t, now())
	old := feedtest.Sign(t, s.secret, feedtest.Dated(projectLists(t), "2020.01.01"), now().Add(-time.Hour))
	expired := feedtest.Sign(t, s.secret, good.Blob, now().Add(-40*24*time.Hour))
	other := feedtest.Sign(t, feedtest.Key(t), good.Blob, now())
	for _, c := range []struct {
		name      string
		blob, sig []byte
		used      bool
		warning   string
	}{
		{"good", good.Blob, good.Text, true, ""},
		{"expired", good.Blob, expired.Text, true, "have expired and remain in use"},
		{"older than the built-in ones", old.Blob, old.Text, false, "are older than"},
		{"another key", good.Blob, other.Text, false, "made with the key"},
		{"damaged", good.Blob[:5000], good.Text, false, "damaged"},
		{"another format", feedtest.OtherFormat(good.Blob), good.Text, false, "update the program"},
		{"no signature", good.Blob, nil, false, "lists.blob.minisig is missing"},
		{"nothing", nil, nil, false, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, e, log := keeper(t, s)
			dir := filepath.Dir(k.File.Path)
			if c.blob != nil {
				feedtest.Write(t, dir, c.blob, c.sig)
			}
			if c.sig == nil {
				os.Remove(k.File.Path + feed.Suffix)
			}
			start(t, k)
			require.Equal(t, c.used, len(e.blobs) == 1)
			require.Equal(t, c.used, k.InUse().From == update.FromFile)
			require.Contains(t, log.String(), c.warning)
			if c.warning == "" {
				require.Empty(t, log.String())
			}
			k.Poll(now())
			require.LessOrEqual(t, strings.Count(log.String(), "have expired"), 1, "logged once")
		})
	}
}

// Without a key the file is used as it is; an unreadable one is an error.
func TestStartWithoutAKey(t *testing.T) {
	s, good := newSite(t, now())
	for _, c := range []struct {
		name, problem, warning string
		blob                   []byte
		used                   bool
	}{
		{"good", "", "without a signature", good.Blob, true},
		{"older than the built-in ones", "", "older than the built-in ones", feedtest.Dated(good.Blob, "2020.01.01"), true},
		{"another format", "", "update the program", feedtest.OtherFormat(good.Blob), false},
		{"damaged", "damaged", "", good.Blob[:5000], false},
		{"nothing", "no such file", "", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, e, log := keeper(t, s)
			k.File.Key, k.Source = feed.PublicKey{}, nil
			if c.blob != nil {
				require.NoError(t, os.WriteFile(k.File.Path, c.blob, 0o600))
			}
			err := k.Start(t.Context(), builtIn.Version)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.used, len(e.blobs) == 1)
			require.Contains(t, log.String(), c.warning)
		})
	}
}

// A file that somebody replaces is taken over, also if blob and signature are
// copied one after the other. Older, expired and damaged ones are not.
func TestPoll(t *testing.T) {
	s, first := newSite(t, now().Add(-time.Hour))
	k, _, log := keeper(t, s)
	dir := filepath.Dir(k.File.Path)
	feedtest.Write(t, dir, first.Blob, first.Text)
	start(t, k)
	next := feedtest.Sign(t, s.secret, feedtest.Dated(projectLists(t), "2099.02.01"), now())
	require.NoError(t, os.WriteFile(k.File.Path, append(bytes.Clone(next.Blob), 0)[:len(next.Blob)], 0o600))
	later(t, k.File.Path)
	k.Poll(now())
	require.Contains(t, log.String(), "the old ones remain in use")
	require.Equal(t, first.Version, k.InUse().Version)
	require.NoError(t, os.WriteFile(k.File.Path+feed.Suffix, next.Text, 0o600))
	later(t, k.File.Path+feed.Suffix)
	k.Poll(now())
	require.Equal(t, next.Version, k.InUse().Version)

	feedtest.Write(t, dir, first.Blob, first.Text)
	k.Reload(t.Context())
	require.Contains(t, log.String(), "before those in use")
	require.Equal(t, next.Version, k.InUse().Version)
	require.NoError(t, os.Remove(k.File.Path))
	k.Poll(now())
	require.Equal(t, next.Version, k.InUse().Version, "a file that is gone changes nothing")
	k.Poll(next.Expires)
	k.Poll(next.Expires.Add(time.Hour))
	require.Equal(t, 1, strings.Count(log.String(), "have expired"))
}

// later makes sure that the file's time changes.
func later(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
}

// The times between two looks differ by a fifth; after a failure they are shorter
// and never longer than the interval.
func TestWait(t *testing.T) {
	k := &update.Keeper{Interval: 6 * time.Hour}
	seen := map[time.Duration]bool{}
	for range 200 {
		wait := k.Wait(0)
		seen[wait] = true
		require.InDelta(t, 6, wait.Hours(), 0.6)
	}
	require.Greater(t, len(seen), 100, "replicas do not ask at the same moment")
	for failures, minutes := range map[int]float64{1: 1, 2: 2, 5: 16, 9: 256, 10: 360, 1000: 360} {
		require.InDelta(t, minutes, k.Wait(failures).Minutes(), minutes/10, failures)
	}
	k.Interval = time.Second
	require.LessOrEqual(t, k.Wait(3), 1100*time.Millisecond)
}

// Run looks again after the interval and ends with its context.
func TestRun(t *testing.T) {
	s, _ := newSite(t, now().Add(-time.Hour))
	k, _, _ := keeper(t, s)
	k.Interval = 10 * time.Millisecond
	start(t, k)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { k.Run(ctx); close(ended) }()
	next := s.publish(t, "2099.03.01", now())
	require.Eventually(t, func() bool { return k.InUse().Version == next.Version }, 2*time.Minute, time.Millisecond)
	stop()
	<-ended
}

// withExtra gives a keeper a file of rows.
func withExtra(t *testing.T, k *update.Keeper, text string) (write func(text string)) {
	t.Helper()
	k.Extra = filepath.Join(t.TempDir(), "extra.txt")
	write = func(text string) {
		require.NoError(t, os.WriteFile(k.Extra+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(k.Extra+".new", k.Extra))
	}
	write(text)
	return write
}

// classOf returns the class of a domain in the lists that the engine got last.
func (e *engine) classOf(t *testing.T, domain string) lists.Class {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	opened, err := lists.Open(e.blobs[len(e.blobs)-1])
	require.NoError(t, err)
	return opened.Provider([]byte(domain))
}

// The operator's rows are in the built-in lists, in those of the feed and in those of the
// file, whose versions and signatures remain what they were.
func TestExtraRows(t *testing.T) {
	s, want := newSite(t, now())
	k, e, log := keeper(t, s)
	write := withExtra(t, k, "[disposable]\nburner.example\n")
	start(t, k)
	require.Equal(t, update.State{InUse: feed.InUse{Version: builtIn.Version}, From: update.BuiltIn, Rows: 1}, k.InUse())
	require.Equal(t, lists.Disposable, e.classOf(t, "a.burner.example"))
	require.NoError(t, k.Update(t.Context()))
	require.Equal(t, update.State{InUse: inUse(want), Expires: want.Expires, From: update.FromFeed, Rows: 1}, k.InUse())
	require.Equal(t, lists.Disposable, e.classOf(t, "burner.example"))
	stored, err := k.File.Read()
	require.NoError(t, err, "what is stored verifies: it has no rows")
	require.Equal(t, want.Blob, stored.Blob)

	write("[known]\nburner.example\nmailinator.com\n")
	k.Poll(now())
	require.Equal(t, lists.Known, e.classOf(t, "burner.example"))
	require.Equal(t, lists.Known, e.classOf(t, "mailinator.com"))
	require.Equal(t, update.State{InUse: inUse(want), Expires: want.Expires, From: update.FromFeed, Rows: 2}, k.InUse())
	require.Contains(t, log.String(), "reloaded the rows of --lists-extra")
	installed := len(e.blobs)
	k.Poll(now())
	require.Len(t, e.blobs, installed, "the file has not changed")

	require.NoError(t, os.Chmod(k.Extra, 0o640))
	k.Poll(now())
	require.Equal(t, installed+1, len(e.blobs), "it may have been unreadable before")

	write("# none any more\n")
	k.Reload(t.Context())
	require.Equal(t, lists.Disposable, e.classOf(t, "mailinator.com"), "the row hid the entry")
	require.Equal(t, want.Blob, e.blobs[len(e.blobs)-1])

	next, e2, _ := keeper(t, s)
	next.File = k.File
	withExtra(t, next, "[relay]\nburner.example\n")
	start(t, next)
	require.Equal(t, update.FromFile, next.InUse().From)
	require.Equal(t, lists.Relay, e2.classOf(t, "burner.example"))
	require.Len(t, e2.blobs, 1, "both at once")
}

// A file that is wrong at the start is an error, later it changes nothing.
func TestExtraRowsThatAreWrong(t *testing.T) {
	s, _ := newSite(t, now())
	k, e, log := keeper(t, s)
	write := withExtra(t, k, "[disposable]\nburner.example\n[spam]\n")
	require.ErrorContains(t, k.Start(t.Context(), builtIn.Version), "--lists-extra: "+k.Extra+":3: this is no class")
	missing := &update.Keeper{Engine: e, Log: k.Log, Extra: k.Extra + ".none"}
	require.ErrorContains(t, missing.Start(t.Context(), builtIn.Version), "--lists-extra: open ")
	foreign := &update.Keeper{Engine: e, Log: k.Log, Extra: k.Extra}
	write("[disposable]\nburner.example\n")
	require.ErrorContains(t, foreign.Start(t.Context(), "2020.01.01-00000000"), "--lists-extra: the module has the lists 2020.01.01-00000000")
	require.Empty(t, e.blobs)

	start(t, k)
	for _, wrong := range []string{"[disposable]\njane@burner.example\n", "burner.example\n", "[known]\ncom\n"} {
		write(wrong)
		k.Poll(now())
	}
	require.Equal(t, 3, strings.Count(log.String(), "the old ones remain in use"), log)
	require.Contains(t, log.String(), "extra.txt:2: this is an address")
	require.NotContains(t, log.String(), "jane")
	require.NoError(t, os.Remove(k.Extra))
	k.Poll(now())
	require.Equal(t, 3, strings.Count(log.String(), "the old ones remain in use"), "while it is replaced there is none")
	k.Reload(t.Context())
	require.Contains(t, log.String(), "no such file")
	require.NoError(t, k.Update(t.Context()))
	require.Equal(t, lists.Disposable, e.classOf(t, "burner.example"), "newer lists get the rows that were right")

	write("[known]\nburner.example\n")
	e.refuses = true
	k.Reload(t.Context())
	require.Contains(t, log.String(), "the module refused the lists")
	e.refuses = false
	require.Equal(t, 1, k.InUse().Rows)
	require.Equal(t, lists.Disposable, e.classOf(t, "burner.example"))
	s.publish(t, "2099.01.01", now().Add(time.Second))
	require.NoError(t, k.Update(t.Context()))
	require.Equal(t, lists.Disposable, e.classOf(t, "burner.example"), "what the module refused is in no later lists")
}

// Rows, lists of the feed and lists of the file may change at the same time.
func TestExtraRowsWhileListsChange(t *testing.T) {
	s, _ := newSite(t, now())
	k, e, _ := keeper(t, s)
	withExtra(t, k, "[disposable]\nburner.example\n")
	start(t, k)
	var both sync.WaitGroup
	both.Go(func() { _ = k.Update(t.Context()) })
	both.Go(func() {
		for range 10 {
			k.Reload(t.Context())
		}
	})
	both.Wait()
	require.Equal(t, update.FromFeed, k.InUse().From)
	require.Equal(t, lists.Disposable, e.classOf(t, "burner.example"))
}
