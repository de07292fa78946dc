package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/extra"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// bulkDomain is disposable in bulkLists and in no others.
const bulkDomain = "d.bulk.example"

func bulkLists(t *testing.T) []byte {
	t.Helper()
	rows := must(extra.Read(fileOf(t, "extra.txt", "[disposable]\n"+bulkDomain+"\n")))(t)
	blob := must(rows.AddTo(ownLists(t)))(t)
	return feedtest.Dated(blob, "2099.01.01")
}

func ownLists(t *testing.T) []byte {
	t.Helper()
	return []byte(textOf(t, "../../lists/lists.blob"))
}

// todaysLists returns the project's own lists as of today.
func todaysLists(t *testing.T) []byte {
	t.Helper()
	dated.Do(func() { dated.blob = feedtest.Dated(ownLists(t), time.Now().UTC().Format("2006.01.02")) })
	return dated.blob
}

var dated struct {
	sync.Once
	blob []byte
}

// A testFeed is a feed on a web server.
type testFeed struct {
	*httptest.Server
	secret feed.SecretKey
	file   store.File
	signed time.Time // of the newest lists; each later publish signs a second later
}

func newFeed(t *testing.T) *testFeed {
	t.Helper()
	dir := t.TempDir()
	f := &testFeed{Server: httptest.NewServer(http.FileServer(http.Dir(dir))), secret: feedtest.Key(t), signed: time.Now().Add(-time.Hour)}
	t.Cleanup(f.Close)
	f.file = store.File{Path: filepath.Join(dir, feed.BlobName), Key: f.secret.Public()}
	f.publish(t, ownLists(t))
	return f
}

func (f *testFeed) publish(t *testing.T, blob []byte) *feed.Release {
	t.Helper()
	f.signed = f.signed.Add(time.Second)
	release := feedtest.Sign(t, f.secret, blob, f.signed)
	require.NoError(t, f.file.Write(release, func(*feed.Release) error { return nil }))
	return release
}

func (f *testFeed) key() string { return f.secret.Public().String() }

func (s *instance) awaitDisposable(t *testing.T, key, domain string, disposable bool) {
	t.Helper()
	s.awaitStatus(t, http.StatusOK, "/v1/email/jane@"+domain, key, fmt.Sprintf(`"disposable":%t`, disposable))
}

// The service takes over the lists that `lists update` stores, silently in a pipe, and the
// rows of its operator, when their files change and on SIGHUP. A damaged file changes
// nothing. Package update tests rows that are wrong.
func TestReloadLists(t *testing.T) {
	t.Parallel()
	f, file := newFeed(t), filepath.Join(t.TempDir(), "lists.blob")
	update := func() {
		out, problem, code := operator(t, "lists", "update", "--from", f.URL, "--lists-key", f.key(), "--lists", file)
		require.Equal(t, []any{"", "", 0}, []any{out, problem, code})
	}
	update()
	rows := fileOf(t, "extra.txt", "[known]\nmailinator.com\n")
	p := launch(t, nil, "--dns", contract.Serve(t), "--lists", file,
		"--lists-key", feedtest.PublicKeyFile(t, f.secret), "--lists-extra", rows)
	key := p.newKey(t)
	p.awaitDisposable(t, key, bulkDomain, false)
	require.Equal(t, 1.0, p.metric(t, "addrspec_lists_extra_rows"))

	release := f.publish(t, bulkLists(t))
	update()
	p.awaitDisposable(t, key, bulkDomain, true)
	p.awaitDisposable(t, key, "mailinator.com", false)
	p.requireStatus(t, http.StatusOK, "/metrics", "",
		fmt.Sprintf("\naddrspec_lists_info{from=\"file\",signed=\"true\",version=%q", release.Version))
	require.Equal(t, float64(release.Expires.Unix()), p.metric(t, "addrspec_lists_expiry_timestamp_seconds"))
	require.NoError(t, os.Truncate(file, 5000))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	p.awaitLog(t, "the old ones remain in use")
	p.awaitDisposable(t, key, bulkDomain, true)

	replace(t, rows, []byte("[known]\n"+bulkDomain+"\n"))
	p.awaitDisposable(t, key, bulkDomain, false)
	replace(t, rows, nil)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	p.awaitDisposable(t, key, bulkDomain, true)
	require.NoError(t, p.Terminate(hung))
}

// The service takes over lists from its feed, and stores them for its next start. Every batch
// meanwhile has the results of one version.
func TestFeedIsTakenOver(t *testing.T) {
	t.Parallel()
	f, file := newFeed(t), filepath.Join(t.TempDir(), "lists.blob")
	s := start(t, "--dns", contract.Serve(t), "--lists", file, "--lists-url", f.URL, "--lists-key", f.key(),
		"--lists-interval", "1s")
	key, last, emails := s.newKey(t), f.publish(t, bulkLists(t)), make([]string, 64)
	for n := range emails {
		emails[n] = fmt.Sprintf("jane%d@%s", n, bulkDomain)
	}
	await(t, func() bool {
		status, e, err := s.post(key, emails)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		for _, r := range e.Results {
			require.Equal(t, e.Results[0].Result, r.Result)
		}
		return e.Results[0].Result.Disposable
	})
	s.requireStatus(t, http.StatusOK, "/metrics", "", "\naddrspec_lists_info{from=\"feed\",signed=\"true\"")
	require.GreaterOrEqual(t, s.metric(t, "addrspec_lists_updates_total"), 1.0)
	require.Positive(t, s.metric(t, "addrspec_lists_last_success_timestamp_seconds"))
	await(t, func() bool { // lists are stored after they are in use
		stored, err := store.File{Path: file, Key: f.secret.Public()}.Read()
		return err == nil && stored.Statement == last.Statement
	})
}

// SIGHUP reloads the plans and security.txt. An invalid file changes nothing.
func TestHangUpReloadsFiles(t *testing.T) {
	t.Parallel()
	plans, text := fileOf(t, "plans.json", `[{"name": "team", "rate": 10, "points": 100}]`), origintest.SecurityTxt(t)
	p := launch(t, nil, "--plans", plans, "--security-txt", text)
	on, first := &shell{t, p.database}, textOf(t, text)
	p.requireStatus(t, http.StatusOK, "/.well-known/security.txt", "", first)
	require.Regexp(t, `team +10 +100`, on.must("plan list"))

	replace(t, plans, []byte(`[{"name": "team", "rate": 20, "points": 200}]`))
	replace(t, text, []byte(first+"Preferred-Languages: en\r\n"))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	p.awaitStatus(t, http.StatusOK, "/.well-known/security.txt", "", "Preferred-Languages: en\r\n")
	p.awaitLog(t, "reloaded the plans")
	replace(t, plans, []byte(`[{"name": "team"}]`))
	replace(t, text, []byte("Contact: mailto:security@addrspec.example\r\n"))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	p.awaitLog(t, "the new plans are invalid")
	p.awaitLog(t, "the new fields of security.txt are invalid")
	require.Regexp(t, `team +20 +200`, on.must("plan list"))
	p.requireStatus(t, http.StatusOK, "/.well-known/security.txt", "", "Preferred-Languages: en\r\n")
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(hung))
}
