package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

var listsInfoLine = regexp.MustCompile(`(?m)^addrspec_lists_info.*$`)

// bulkDomain is disposable in bulkLists and in no others.
const bulkDomain = "d.bulk.example"

var bulk struct {
	once sync.Once
	blob []byte
}

// bulkLists packs lists with bulkDomain once for all tests.
func bulkLists(t *testing.T) []byte {
	t.Helper()
	bulk.once.Do(func() { bulk.blob = packLists(t, bulkDomain) })
	require.NotEmpty(t, bulk.blob)
	return bulk.blob
}

func ownLists(t *testing.T) []byte {
	t.Helper()
	blob, err := os.ReadFile("../../lists/lists.blob")
	require.NoError(t, err)
	return blob
}

// A testFeed is a feed on a web server.
type testFeed struct {
	*httptest.Server
	secret feed.SecretKey
	file   store.File
	signed time.Time // of the newest lists; each later publish signs a second later
}

// newFeed serves a feed with the project's lists, signed an hour ago.
func newFeed(t *testing.T) *testFeed {
	t.Helper()
	dir := t.TempDir()
	f := &testFeed{Server: httptest.NewServer(http.FileServer(http.Dir(dir))), secret: feedtest.Key(t), signed: time.Now().Add(-time.Hour)}
	t.Cleanup(f.Close)
	f.file = store.File{Path: filepath.Join(dir, feed.BlobName), Key: f.secret.Public()}
	f.publish(t, ownLists(t))
	return f
}

// publish replaces the lists of the feed by newer ones, as lists/publish does.
func (f *testFeed) publish(t *testing.T, blob []byte) *feed.Release {
	t.Helper()
	f.signed = f.signed.Add(time.Second)
	release := feedtest.Sign(t, f.secret, blob, f.signed)
	require.NoError(t, f.file.Write(release, func(*feed.Release) error { return nil }))
	return release
}

// todaysLists returns the project's lists as if they had been refreshed today.
func todaysLists(t *testing.T) []byte {
	t.Helper()
	return feedtest.Dated(ownLists(t), time.Now().UTC().Format("2006.01.02"))
}

func (f *testFeed) key() string { return f.secret.Public().String() }

// program returns the command in a process of its own.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	return cmd
}

// runProgram runs the command to its end.
func runProgram(t *testing.T, args ...string) (out, problem string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := program(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return stdout.String(), stderr.String(), code
}

// `lists update` stores newer lists, silently in a pipe, and the service that
// runs with the same file takes them over without a signal.
func TestUpdateIsTakenOverByTheService(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	file := filepath.Join(t.TempDir(), "lists.blob")
	update := func() {
		out, problem, code := runProgram(t, "lists", "update", "--from", f.URL, "--lists-key", f.key(), "--lists", file)
		require.Equal(t, []any{"", "", 0}, []any{out, problem, code})
	}
	update()
	p := launch(t, nil, "--dns", contract.Serve(t), "--lists", file, "--lists-key", feedtest.PublicKeyFile(t, f.secret))
	key := p.unlimitedKey(t)
	require.False(t, p.isDisposable(t, key, "jane@"+bulkDomain))
	require.Contains(t, listsInfoLine.FindString(p.metrics(t)), `from="file",signed="true"`)

	release := f.publish(t, bulkLists(t))
	update()
	require.Eventually(t, func() bool { return p.isDisposable(t, key, "jane@"+bulkDomain) }, hung, 50*time.Millisecond, "%s", p.log)
	want := []string{fmt.Sprintf("addrspec_lists_info{from=\"file\",signed=\"true\",version=%q} 1", release.Version)}
	require.Eventually(t, func() bool { return slices.Equal(want, listsInfoLine.FindAllString(p.metrics(t), -1)) }, hung, 50*time.Millisecond)
	require.Equal(t, float64(release.Expires.Unix()), p.metric(t, "addrspec_lists_expiry_timestamp_seconds"))

	require.NoError(t, os.Truncate(file, 5000))
	require.Eventually(t, func() bool { return p.log.Contains("the old ones remain in use") }, hung, 10*time.Millisecond)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.True(t, p.isDisposable(t, key, "jane@"+bulkDomain))
	require.NoError(t, p.Terminate(hung))
}

// What `lists update` refuses, with a sentence, exit code 1 and nothing changed.
func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	file := filepath.Join(t.TempDir(), "lists.blob")
	args := func(more ...string) []string {
		return append([]string{"lists", "update", "--from", f.URL, "--lists-key", f.key(), "--lists", file}, more...)
	}
	_, problem, code := runProgram(t, args()...)
	require.Zero(t, code, problem)
	used, err := f.file.Read()
	require.NoError(t, err)
	blob := feedtest.Dated(ownLists(t), "2099.01.01")
	newer := feedtest.Sign(t, f.secret, blob, time.Now())
	damaged := bytes.Clone(blob)
	damaged[len(blob)/3] ^= 1
	for _, c := range []struct {
		name      string
		blob, sig []byte
		words     string
	}{
		{"another key", blob, feedtest.Sign(t, feedtest.Key(t), blob, time.Now()).Text, "made with the key"},
		{"older", blob, feedtest.Sign(t, f.secret, blob, used.Signed.Add(-time.Second)).Text, "before those in use"},
		{"expired", blob, feedtest.Sign(t, f.secret, blob, time.Now().AddDate(0, 0, -31)).Text, "expired on"},
		{"a damaged byte", damaged, newer.Text, "its checksum does not match"},
		{"truncated", blob[:len(blob)/2], newer.Text, "damaged"},
		{"too large", make([]byte, feed.MaxBlob+1), newer.Text, "larger than 4096 KiB"},
		{"another format", feedtest.OtherFormat(blob), newer.Text, "update the program"},
		{"a page", blob, []byte("<html>"), "not one of minisign"},
	} {
		t.Run(c.name, func(t *testing.T) {
			feedtest.Write(t, filepath.Dir(f.file.Path), c.blob, c.sig)
			for _, dry := range [][]string{nil, {"--dry-run"}} {
				out, problem, code := operator(t, args(dry...)...)
				require.Equal(t, 1, code)
				require.Empty(t, out)
				require.Contains(t, problem, "the lists remain "+used.Version)
				require.Contains(t, problem, c.words)
			}
			got, err := store.File{Path: file, Key: f.secret.Public()}.Read()
			require.NoError(t, err)
			require.Equal(t, used.Statement, got.Statement)
		})
	}
	require.NoError(t, os.Remove(f.file.Path))
	require.NoError(t, os.Remove(f.file.Path+feed.Suffix))
	_, problem, code = runProgram(t, args()...)
	require.Equal(t, 1, code)
	require.Contains(t, problem, `the server responded with "404 Not Found"`)
}

// --dry-run reports and stores nothing.
func TestUpdateDryRun(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	file := filepath.Join(t.TempDir(), "lists.blob")
	out, problem, code := runProgram(t, "lists", "update", "--from", f.URL, "--lists-key", f.key(), "--lists", file, "--dry-run")
	require.Zero(t, code, problem)
	require.Contains(t, out, "would replace "+feed.DescribeBuiltIn().Version)
	_, err := os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// batchIsDisposable posts 64 addresses at bulkDomain. It returns an error unless
// all get the same result.
func (s *instance) batchIsDisposable(key string) (disposable bool, err error) {
	emails := make([]string, 64)
	for n := range emails {
		emails[n] = fmt.Sprintf("jane%d@%s", n, bulkDomain)
	}
	body, _ := json.Marshal(map[string][]string{"emails": emails})
	request, _ := http.NewRequest(http.MethodPost, "http://"+s.hostPort+"/v1/emails", bytes.NewReader(body))
	request.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}}
	response, err := httpClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var e struct {
		Results []struct{ Result struct{ Disposable bool } }
	}
	if err := json.NewDecoder(response.Body).Decode(&e); err != nil || response.StatusCode != http.StatusOK || len(e.Results) != len(emails) {
		return false, fmt.Errorf("status %d, %d results: %w", response.StatusCode, len(e.Results), err)
	}
	for _, r := range e.Results {
		if r.Result.Disposable != e.Results[0].Result.Disposable {
			return false, errors.New("a batch has results of two versions of the lists")
		}
	}
	return e.Results[0].Result.Disposable, nil
}

// While the service takes over lists from its feed, no request fails and every
// batch has the results of one version. The file keeps them for a restart.
func TestFeedIsTakenOverUnderLoad(t *testing.T) {
	t.Parallel()
	f, dns := newFeed(t), contract.Serve(t)
	file := filepath.Join(t.TempDir(), "lists.blob")
	flags := []string{"--dns", dns, "--lists", file, "--lists-url", f.URL, "--lists-key", f.key(), "--lists-interval", "1s"}
	p := launch(t, nil, flags...)
	key := p.unlimitedKey(t)
	ended := make(chan struct{})
	var clients sync.WaitGroup
	var batches [2]atomic.Int64
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				disposable, err := p.batchIsDisposable(key)
				if err != nil {
					t.Error(err)
					return
				}
				batches[map[bool]int{true: 1}[disposable]].Add(1)
			}
		})
	}
	var last *feed.Release
	for n := range 4 {
		last = f.publish(t, [][]byte{bulkLists(t), ownLists(t)}[n%2])
		require.Eventually(t, func() bool {
			disposable, err := p.batchIsDisposable(key)
			return err == nil && disposable == (n%2 == 0)
		}, hung, 10*time.Millisecond, "%s", p.log)
	}
	close(ended)
	clients.Wait()
	t.Logf("%d batches before and %d after a change, none failed", batches[0].Load(), batches[1].Load())
	require.Positive(t, batches[0].Load())
	require.Positive(t, batches[1].Load())
	require.GreaterOrEqual(t, p.metric(t, "addrspec_lists_updates_total"), 4.0)
	require.Positive(t, p.metric(t, "addrspec_lists_last_success_timestamp_seconds"))
	require.Eventually(t, func() bool { // lists are stored after they are in use
		stored, err := store.File{Path: file, Key: f.secret.Public()}.Read()
		return err == nil && stored.Statement == last.Statement
	}, hung, 10*time.Millisecond)
	p.Kill()

	f.Close()
	again := launch(t, nil, flags...)
	require.Equal(t, []string{fmt.Sprintf("addrspec_lists_info{from=\"file\",signed=\"true\",version=%q} 1", last.Version)}, listsInfoLine.FindAllString(again.metrics(t), -1))
	failures := regexp.MustCompile(`(?m)addrspec_lists_failures_total\{reason="fetch"\} ([3-9]|\d\d+)$`)
	require.Eventually(t, func() bool { return len(failures.FindAllString(again.metrics(t), -1)) == 1 }, hung, 50*time.Millisecond)
	require.Equal(t, 1, strings.Count(again.wholeLog(t), "the lists were not updated"), "logged once per reason")
	require.NoError(t, again.Terminate(hung))
}

// A `lists update` that is killed at any moment leaves lists that verify, and
// with which the service starts.
func TestKilledUpdate(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	file := filepath.Join(t.TempDir(), "lists.blob")
	args := []string{"lists", "update", "--from", f.URL, "--lists-key", f.key(), "--lists", file}
	_, problem, code := runProgram(t, args...)
	require.Zero(t, code, problem)
	start := time.Now()
	f.publish(t, bulkLists(t))
	_, problem, code = runProgram(t, args...)
	require.Zero(t, code, problem)
	whole := time.Since(start) // real time: spreads the kills; how long an update takes here
	rounds := shorter(20, 6)
	old, replaced := 0, 0
	for n := range rounds {
		before, err := store.File{Path: file, Key: f.secret.Public()}.Read()
		require.NoError(t, err)
		release := f.publish(t, [][]byte{ownLists(t), bulkLists(t)}[n%2])
		cmd := program(args...)
		require.NoError(t, cmd.Start())
		time.Sleep(whole * time.Duration(n) / time.Duration(rounds)) // real time: a kill at any moment
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out, problem, code := runProgram(t, "lists", "verify", file, "--lists-key", f.key())
		require.Zero(t, code, problem)
		switch {
		case strings.Contains(out, before.Version):
			old++
		case strings.Contains(out, release.Version):
			replaced++
		default:
			t.Fatal(out)
		}
	}
	t.Logf("%d of %d killed updates had replaced the lists", replaced, rounds)
	require.Equal(t, rounds, old+replaced)
	p := launch(t, nil, "--lists", file, "--lists-key", f.key())
	require.Contains(t, listsInfoLine.FindString(p.metrics(t)), `from="file",signed="true"`)
}

// A service starts with what it has: lists that have expired with a warning,
// unsigned ones not at all where a key is given.
func TestServeStartsWithOldLists(t *testing.T) {
	t.Parallel()
	secret, dir := feedtest.Key(t), t.TempDir()
	expired := feedtest.Sign(t, secret, bulkLists(t), time.Now().AddDate(0, 0, -40))
	feedtest.Write(t, dir, expired.Blob, expired.Text)
	file := filepath.Join(dir, feed.BlobName)
	s := start(t, "--dns", contract.Serve(t), "--lists", file, "--lists-key", secret.Public().String())
	require.Contains(t, s.wholeLog(t), "have expired and remain in use")
	require.True(t, s.isDisposable(t, s.newKey(t), "jane@"+bulkDomain))

	require.NoError(t, os.Remove(file+feed.Suffix))
	s = start(t, "--dns", contract.Serve(t), "--lists", file, "--lists-key", secret.Public().String())
	require.Contains(t, s.wholeLog(t), "the built-in lists are")
	require.False(t, s.isDisposable(t, s.newKey(t), "jane@"+bulkDomain))
	require.Contains(t, listsInfoLine.FindString(s.metrics(t)), `from="built-in",signed="false"`)
}
