package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/extra"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
)

// keyFile writes a secret key without a password.
func keyFile(t *testing.T) (path string, key feed.PublicKey) {
	t.Helper()
	secret := feedtest.Key(t)
	text, err := secret.File("")
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "lists.key")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path, secret.Public()
}

func TestPublish(t *testing.T) {
	path, key := keyFile(t)
	p := publisher{Key: path, Blob: "../lists.blob", Feed: filepath.Join(t.TempDir(), "a", "feed"), Expires: lifetime(30 * day)}
	require.NoError(t, p.Run())
	release, err := store.File{Path: filepath.Join(p.Feed, feed.BlobName), Key: key}.Read()
	require.NoError(t, err)
	require.NoError(t, release.Fresh(time.Now()))
	require.Equal(t, 30*24*time.Hour, release.Expires.Sub(release.Signed))

	text, err := os.ReadFile(filepath.Join(p.Feed, feed.SummaryName))
	require.NoError(t, err)
	var summary feed.Summary
	require.NoError(t, json.Unmarshal(text, &summary))
	require.Equal(t, release.Summary(), summary)
	require.NoError(t, p.Run(), "publishing again replaces the feed")
	entries, err := os.ReadDir(p.Feed)
	require.NoError(t, err)
	require.Len(t, entries, 5)
}

func TestPublishRefuses(t *testing.T) {
	path, _ := keyFile(t)
	good := publisher{Key: path, Blob: "../lists.blob", Feed: t.TempDir(), Expires: lifetime(day)}
	refuse := func(words string, change func(*publisher)) {
		t.Helper()
		p := good
		change(&p)
		require.ErrorContains(t, p.Run(), words)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.blob")
	require.NoError(t, os.WriteFile(damaged, []byte("addrspec"), 0o600))
	refuse("no such file", func(p *publisher) { p.Key += "x" })
	refuse("not a secret key", func(p *publisher) { p.Key = "main.go" })
	refuse("damaged", func(p *publisher) { p.Blob = damaged })
	refuse("not a directory", func(p *publisher) { p.Feed = damaged })

	// Lists from a clock in the future: clients would refuse all that follow.
	future := time.Now().Add(time.Hour)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	secret, err := feed.ParseSecretKey(text, nil)
	require.NoError(t, err)
	blob, err := os.ReadFile("../lists.blob")
	require.NoError(t, err)
	feedtest.Write(t, good.Feed, blob, feedtest.Sign(t, secret, blob, future).Text)
	refuse("in the future", func(*publisher) {})
}

// Two blobs signed in one second could not be ordered.
func TestPublishOrders(t *testing.T) {
	secret := feedtest.Key(t)
	blob, err := os.ReadFile("../lists.blob")
	require.NoError(t, err)
	second := time.Unix(1795372800, 0)
	a := feedtest.Sign(t, secret, blob, second)
	b := feedtest.Sign(t, secret, feedtest.Dated(blob, "2099.01.01"), second)
	later := feedtest.Sign(t, secret, blob, second.Add(time.Second))
	require.NoError(t, notBefore(a, nil))
	require.NoError(t, notBefore(a, a))
	require.NoError(t, notBefore(later, b))
	require.ErrorContains(t, notBefore(a, b), "same second")
	require.ErrorContains(t, notBefore(a, later), "future")
}

func TestLifetime(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12h": 12 * time.Hour, "366d": 366 * 24 * time.Hour} {
		var l lifetime
		require.NoError(t, l.UnmarshalText([]byte(text)))
		require.Equal(t, want, time.Duration(l))
	}
	for _, text := range []string{"", "d", "0d", "-1d", "367d", "99999d", "59m", "30", "30 d"} {
		require.ErrorContains(t, new(lifetime).UnmarshalText([]byte(text)), "1h to 366d", text)
	}
}

// changesOf reads and verifies the changes of a feed.
func changesOf(t *testing.T, dir string, key feed.PublicKey) *feed.Changes {
	t.Helper()
	c, err := store.ReadChanges(filepath.Join(dir, feed.ChangesName), key)
	require.NoError(t, err)
	return c
}

// withRows writes the lists with the rows of a text.
func withRows(t *testing.T, text string) (path string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "extra.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	rows, err := extra.Read(file)
	require.NoError(t, err)
	packed, err := rows.AddTo(lists.Blob())
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "lists.blob")
	require.NoError(t, os.WriteFile(path, packed, 0o600))
	return path
}

// The feed says what its newest lists changed, also after they were published again.
func TestPublishChanges(t *testing.T) {
	path, key := keyFile(t)
	p := publisher{Key: path, Blob: "../lists.blob", Feed: t.TempDir(), Expires: lifetime(30 * day)}
	publish := func() *feed.Changes {
		t.Helper()
		republish(t, p)
		return changesOf(t, p.Feed, key)
	}
	first := publish()
	require.Equal(t, &feed.Changes{Version: lists.Default().Version(), Rows: []feed.Change{}}, first, "the first publication has nothing before it")
	require.Equal(t, first, publish())

	p.Blob = withRows(t, "[disposable]\nburner.example\n[known]\nmailinator.com\n")
	second := publish()
	require.Equal(t, first.Version, *second.Since)
	require.NotEqual(t, first.Version, second.Version)
	require.Equal(t, []int{2, 1, 3}, []int{second.Added, second.Removed, len(second.Rows)})
	require.Equal(t, second, publish(), "published again")

	summary := filepath.Join(p.Feed, feed.ChangesName)
	require.NoError(t, os.WriteFile(summary, []byte("{}"), 0o600))
	lost := publish()
	require.Equal(t, &feed.Changes{Version: second.Version, Rows: []feed.Change{}}, lost, "what was before is not known any more")

	p.Blob = "../lists.blob"
	back := publish()
	require.Equal(t, second.Version, *back.Since)
	require.Equal(t, []int{1, 2}, []int{back.Added, back.Removed})

	other, otherKey := keyFile(t)
	p.Key = other
	republish(t, p)
	require.Nil(t, changesOf(t, p.Feed, otherKey).Since, "the lists before are of another key")
}

// republish publishes as if the lists in the feed had been signed a minute before.
func republish(t *testing.T, p publisher) {
	t.Helper()
	text, err := os.ReadFile(p.Key)
	require.NoError(t, err)
	secret, err := feed.ParseSecretKey(text, nil)
	require.NoError(t, err)
	file := store.File{Path: filepath.Join(p.Feed, feed.BlobName), Key: secret.Public()}
	if r, err := file.Read(); err == nil {
		feedtest.Write(t, p.Feed, r.Blob, feedtest.Sign(t, secret, r.Blob, r.Signed.Add(-time.Minute)).Text)
	}
	require.NoError(t, p.Run())
}
