package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
)

var signed = time.Unix(1795372800, 0)

// accept replaces whatever there is.
func accept(*feed.Release) error { return nil }

// pair returns two releases and a file with the first one.
func pair(t *testing.T) (file store.File, old, next *feed.Release) {
	t.Helper()
	secret := feedtest.Key(t)
	blob, err := os.ReadFile("../../lists.blob")
	require.NoError(t, err)
	old = feedtest.Sign(t, secret, blob, signed)
	next = feedtest.Sign(t, secret, feedtest.Dated(blob, "2027.01.01"), signed.Add(time.Hour))
	dir := filepath.Join(t.TempDir(), "lists[1]") // a pattern, if it were one
	require.NoError(t, os.Mkdir(dir, 0o700))
	file = store.File{Path: filepath.Join(dir, feed.BlobName), Key: secret.Public()}
	require.NoError(t, file.Write(old, accept))
	return file, old, next
}

func requireVersion(t *testing.T, file store.File, want *feed.Release) {
	t.Helper()
	got, err := file.Read()
	require.NoError(t, err)
	require.Equal(t, want.Statement, got.Statement)
}

func names(t *testing.T, file store.File) (list []string) {
	entries, err := os.ReadDir(filepath.Dir(file.Path))
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteAndRead(t *testing.T) {
	file, old, next := pair(t)
	requireVersion(t, file, old)
	require.NoError(t, file.Write(next, func(now *feed.Release) error {
		require.Equal(t, old.Statement, now.Statement)
		return nil
	}))
	requireVersion(t, file, next)
	require.Equal(t, []string{"lists.blob", "lists.blob.minisig"}, names(t, file), "nothing else remains")
	info, err := os.Stat(file.Path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o644), info.Mode(), "the service may run as another user")
}

func TestCheckRefuses(t *testing.T) {
	file, old, next := pair(t)
	refusal := errors.New("no")
	require.ErrorIs(t, file.Write(next, func(*feed.Release) error { return refusal }), refusal)
	requireVersion(t, file, old)
	require.NoError(t, os.Truncate(file.Path, 100))
	require.NoError(t, file.Write(next, func(now *feed.Release) error {
		require.Nil(t, now, "a damaged pair counts as none")
		return nil
	}))
	requireVersion(t, file, next)
}

func TestReadRefuses(t *testing.T) {
	file, _, _ := pair(t)
	_, err := store.File{Path: file.Path + "x", Key: file.Key}.Read()
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = store.File{Path: file.Path, Key: feedtest.Key(t).Public()}.Read()
	require.ErrorContains(t, err, "made with the key")
	require.NoError(t, os.Remove(file.Path+feed.Suffix))
	_, err = file.Read()
	require.ErrorContains(t, err, "lists.blob.minisig is missing")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(file.Path, make([]byte, feed.MaxBlob+1), 0o600))
	_, err = file.Read()
	require.ErrorContains(t, err, "larger than 4096 KiB")
}

// After each step of a write that was cut off there is one valid pair, and the
// next write succeeds.
func TestWriteCutOff(t *testing.T) {
	for steps := range 4 {
		file, old, next := pair(t)
		want := old
		if steps > 0 { // the new signature waits
			require.NoError(t, os.WriteFile(file.Path+feed.Suffix+".new", next.Text, 0o600))
		}
		if steps > 1 { // the new blob is being written
			require.NoError(t, os.WriteFile(file.Path+".tmp-123", next.Blob[:1000], 0o600))
		}
		if steps > 2 { // the new blob is in place
			require.NoError(t, os.WriteFile(file.Path, next.Blob, 0o600))
			want = next
		}
		requireVersion(t, file, want)
		require.NoError(t, file.Write(next, accept))
		requireVersion(t, file, next)
		require.Equal(t, []string{"lists.blob", "lists.blob.minisig"}, names(t, file))
	}
}

// A write that is cut off after another one was cut off still leaves a valid
// pair: the first one's signature is in place before the second one's waits.
func TestWriteCutOffTwice(t *testing.T) {
	file, _, next := pair(t)
	require.NoError(t, os.WriteFile(file.Path+feed.Suffix+".new", next.Text, 0o600))
	require.NoError(t, os.WriteFile(file.Path, next.Blob, 0o600))
	require.NoError(t, file.Finish())
	require.NoError(t, os.WriteFile(file.Path+feed.Suffix+".new", []byte("of a third"), 0o600))
	requireVersion(t, file, next)
}

// Who may write to the directory does not choose what else is written.
func TestWriteReplacesASymbolicLink(t *testing.T) {
	file, old, next := pair(t)
	link := store.File{Path: filepath.Join(t.TempDir(), "link.blob"), Key: file.Key}
	require.NoError(t, os.Symlink(file.Path, link.Path))
	require.NoError(t, os.Symlink(file.Path, link.Path+feed.Suffix))
	require.NoError(t, link.Write(next, accept))
	requireVersion(t, link, next)
	requireVersion(t, file, old)
	for _, path := range []string{link.Path, link.Path + feed.Suffix} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular(), path)
	}
}

// Writers take turns, and a reader always finds a whole pair.
func TestConcurrentWriters(t *testing.T) {
	file, old, next := pair(t)
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			for range 5 {
				release := old
				if n%2 == 0 {
					release = next
				}
				if err := file.Write(release, accept); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reads := 0; ; reads++ {
		_, err := file.Read()
		require.NoError(t, err)
		select {
		case <-done:
			require.Positive(t, reads)
			return
		default:
		}
	}
}

// writerVariable makes TestMain replace a pair until the process is killed. Its
// value is a directory with the pair, and with the releases a and b.
const writerVariable = "ADDRSPEC_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

func writeForever(dir string) {
	key, _ := os.ReadFile(filepath.Join(dir, "key"))
	public, _ := feed.ParsePublicKey(string(key))
	file := store.File{Path: filepath.Join(dir, feed.BlobName), Key: public}
	var releases []*feed.Release
	for _, name := range []string{"a", "b"} {
		release, err := store.File{Path: filepath.Join(dir, name, feed.BlobName), Key: public}.Read()
		if err != nil {
			panic(err)
		}
		releases = append(releases, release)
	}
	os.Stdout.WriteString("writing\n")
	for n := 0; ; n++ {
		if err := file.Write(releases[n%2], accept); err != nil {
			panic(err)
		}
	}
}

// A writer that is killed at any moment leaves one of the two pairs.
func TestKilledWriter(t *testing.T) {
	file, old, next := pair(t)
	dir := filepath.Dir(file.Path)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key"), file.Key.File(), 0o600))
	for name, release := range map[string]*feed.Release{"a": old, "b": next} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		feedtest.Write(t, filepath.Join(dir, name), release.Blob, release.Text)
	}
	cutOff := 0
	for n := range 25 {
		killWriter(t, dir, time.Duration(n)*700*time.Microsecond)
		if len(names(t, file)) > 5 { // key, a, b, the pair
			cutOff++
		}
		got, err := file.Read()
		require.NoError(t, err)
		require.True(t, bytes.Equal(got.Blob, old.Blob) || bytes.Equal(got.Blob, next.Blob))
	}
	t.Logf("%d of 25 writers were killed in the middle of a write", cutOff)
	require.NoError(t, file.Write(next, accept))
	require.False(t, strings.Contains(strings.Join(names(t, file), " "), "tmp"), "left-overs are removed")
}

// killWriter runs a writer and kills it this long after it began.
func killWriter(t *testing.T, dir string, after time.Duration) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	time.Sleep(after) // real time: at any moment of the write
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}
