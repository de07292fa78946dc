package edge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// versions returns what a worker says that it uses.
func (p *process) versions(t testing.TB) (v struct{ Engine, Lists, Model string }) {
	t.Helper()
	a := p.send(t, get("/versions"))
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.NoError(t, json.Unmarshal([]byte(a.body), &v))
	return v
}

// requireLists waits until a worker uses these lists. On workerd, it is the
// requests that start an update.
func (p *process) requireLists(t *testing.T, version string) {
	t.Helper()
	require.Eventually(t, func() bool { return p.versions(t).Lists == version }, hung, 50*time.Millisecond, "%s\n%s", version, p.log)
}

// requireRefusal waits until a worker logs why it did not update its lists.
func (p *process) requireRefusal(t *testing.T, reason string) {
	t.Helper()
	line := "lists: not updated, the current ones remain in use: " + reason
	require.Eventually(t, func() bool { p.versions(t); return p.log.Contains(line) }, hung, 50*time.Millisecond, "%s\n%s", reason, p.log)
}

// A worker takes newer lists over while it runs, and keeps those that it has when
// a feed is wrong in any way.
func TestListsFromFeed(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			t.Parallel()
			f := startFeed(t)
			f.sign(newer(t, "2031.01.01"), time.Hour)
			w := runtime.start(t, "http://"+o.hostPort, f.settings()...)
			w.requireLists(t, versionOf(newer(t, "2031.01.01")))
			key := "X-API-Key: " + o.account(t, runtime.name+"@lists.test")
			require.Contains(t, w.send(t, get("/v1/email/jane@"+swappedDomain, key)).body, `"public":true`)

			for _, c := range wrongFeeds(t, f) {
				f.change(c.serve)
				w.requireRefusal(t, c.reason)
				require.Equal(t, versionOf(newer(t, "2031.01.01")), w.versions(t).Lists, c.name)
			}
			require.Contains(t, w.send(t, get("/v1/email/jane@"+swappedDomain, key)).body, `"public":true`)
			require.NotContains(t, w.log.String(), f.url)
			require.NotContains(t, w.log.String(), f.signer.key())
			requireNoSecrets(t, w)

			f.sign(packed("2030.01.01"), 0) // an older date, signed later: the signer went back
			w.requireLists(t, versionOf(packed("2030.01.01")))
			require.Contains(t, w.send(t, get("/v1/email/jane@"+swappedDomain, key)).body, `"public":false`)
		})
	}
}

// A wrongFeed is one that a worker must refuse, for this reason. These reach what differs between
// the runtimes, fetch and WebCrypto; feed.test.ts and signature.test.ts have the others.
type wrongFeed struct {
	name   string
	serve  http.HandlerFunc
	reason string
}

func wrongFeeds(t *testing.T, f *fakeFeed) []wrongFeed {
	blob := newer(t, "2032.01.01")
	now := time.Now().Unix()
	later := now + 3600
	good := f.signer.sign(blob, now, later)
	const blobPath, signaturePath = "/feed/lists.blob", "/feed/lists.blob.minisig"
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	huge := func(w http.ResponseWriter, r *http.Request) {
		for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	stalled := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	flipped := slices.Clone(blob)
	flipped[len(flipped)/2] ^= 1
	return []wrongFeed{
		{"not modified", status(304), "lists.blob.minisig: the feed responded with status 304"},
		{"a page", files(blob, []byte("<!doctype html><title>Not found</title>")), "lists.blob.minisig: it is not a signature of minisign"},
		{"another key", files(blob, newSigner(t).sign(blob, now, later)), "lists.blob.minisig: it is signed with the key "},
		{"expired", files(blob, f.signer.sign(blob, now-60, now-30)), "they expired on "},
		{"damaged", files(flipped, good), "the signature does not fit the lists"},
		{"damaged before it was signed", files(flipped, f.signer.sign(flipped, now, later)), "lists: the blob is damaged: its checksum does not match its bytes"},
		{"a huge signature", only(signaturePath, huge, http.NotFound), "lists.blob.minisig: it is larger than 4 KiB"},
		{"a huge blob", only(blobPath, huge, files(blob, good)), "lists.blob: it is larger than 4 MiB"},
		{"a redirect to nowhere", http.RedirectHandler("/feed/none", http.StatusFound).ServeHTTP, "lists.blob.minisig: the feed "},
		{"a slow server", stalled, "the feed did not respond in time"},
	}
}

// A feed may redirect, as stores of releases do.
func TestListsAfterRedirect(t *testing.T) {
	t.Parallel()
	f := startFeed(t)
	blob := newer(t, "2031.01.01")
	serve := http.StripPrefix("/elsewhere", files(blob, f.signer.sign(blob, time.Now().Unix(), time.Now().Unix()+3600))).ServeHTTP
	f.change(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/elsewhere/") {
			serve(w, r)
		} else {
			http.Redirect(w, r, "/elsewhere"+r.URL.Path, http.StatusFound)
		}
	})
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			t.Parallel()
			runtime.start(t, "http://127.0.0.1:9", f.settings()...).requireLists(t, versionOf(blob))
		})
	}
}

// While the lists change under load, no request fails, and a batch sees one
// version.
func TestListsChangeUnderLoad(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			t.Parallel()
			f := startFeed(t)
			f.sign(newer(t, "2031.01.01"), time.Hour)
			w := runtime.start(t, "http://"+o.hostPort, f.settings()...)
			w.requireLists(t, versionOf(newer(t, "2031.01.01")))
			key := "X-API-Key: " + o.account(t, runtime.name+"@load.test")
			done := make(chan struct{})
			var clients sync.WaitGroup
			var old, newer atomic.Int64
			for range 4 {
				clients.Go(func() { w.askUntil(t, done, key, &old, &newer) })
			}
			before := time.Now().Unix() - 3000
			for n := range int64(6) {
				blob := packedOrNewer(t, n)
				f.publish(blob, f.signer.sign(blob, before+n, before+90_000))
				w.requireLists(t, versionOf(blob))
			}
			close(done)
			clients.Wait()
			updates := func() int { return strings.Count(w.log.String(), "lists: updated from") }
			require.Eventually(t, func() bool { return updates() >= 7 }, hung, time.Millisecond) // the log may come after the response
			require.Equal(t, 7, updates(), w.log)
			require.Positive(t, old.Load())
			require.Positive(t, newer.Load())
			t.Logf("%d batches with the old lists, %d with the newer ones", old.Load(), newer.Load())
		})
	}
}

// packedOrNewer returns other lists for an even and an odd n.
func packedOrNewer(t *testing.T, n int64) []byte {
	t.Helper()
	if n%2 == 0 {
		return packed("2031.01.01")
	}
	return newer(t, "2031.01.01")
}

// askUntil sends batches until done is closed, requires that the results of each
// come from the same lists, and counts the batches by their lists.
func (p *process) askUntil(t *testing.T, done <-chan struct{}, key string, old, newer *atomic.Int64) {
	emails := make([]string, 64)
	for n := range emails {
		emails[n] = fmt.Sprintf("jane%d@%s", n, swappedDomain)
	}
	body, _ := json.Marshal(map[string]any{"emails": emails})
	for {
		select {
		case <-done:
			return
		default:
			a := p.send(t, post(string(body), key))
			if !assert.Equal(t, http.StatusOK, a.status, a.body) {
				return
			}
			public := strings.Count(a.body, `"public":true`)
			assert.True(t, public == 0 || public == len(emails), "%d of %d results are of the newer lists", public, len(emails))
			assert.Equal(t, len(emails), public+strings.Count(a.body, `"public":false`))
			if public == 0 {
				old.Add(1)
			} else {
				newer.Add(1)
			}
		}
	}
}

// A feed that does not respond delays neither requests nor the end of the process.
func TestStalledFeedDelaysNoRequest(t *testing.T) {
	t.Parallel()
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			f := startFeed(t)
			asked := make(chan struct{}, 100)
			f.change(func(_ http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				<-r.Context().Done()
			})
			var w *process
			t.Cleanup(func() { // after the end of the process
				if w != nil {
					require.NotContains(t, w.log.String(), "the feed did not respond in time", "something waited for the update")
				}
			})
			w = runtime.start(t, "http://127.0.0.1:9", append(f.settings(), "ADDRSPEC_LISTS_INTERVAL=1h")...)
			w.versions(t)
			<-asked
			for range 20 {
				w.versions(t)
			}
			require.Empty(t, asked, "one request to the feed at a time")
		})
	}
}

// A cron trigger updates the lists of the isolate that it reaches, and ends as
// failed if the feed does.
func TestListsByCronTrigger(t *testing.T) {
	f := startFeed(t)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(bundle(t))))
	require.NoError(t, os.Rename(filepath.Join(dir, "workerd.capnp"), filepath.Join(dir, "edge.capnp")))
	require.NoError(t, os.CopyFS(dir, os.DirFS("test/cron")))
	settings := append(f.settings(), "ADDRSPEC_ORIGIN=http://127.0.0.1:9", "ADDRSPEC_EDGE_SECRET="+secret, "ADDRSPEC_LISTS_INTERVAL=1h")
	// A worker that calls another one's scheduled handler is an experiment of workerd.
	w := runWorkerd(t, []string{"serve", "--experimental", filepath.Join(dir, "workerd.capnp")}, settings)
	require.JSONEq(t, `{"outcome":"exception","noRetry":false}`, w.send(t, get("/cron")).body)
	w.requireLogs(t, "lists.blob.minisig: the feed responded with status 404")
	blob := newer(t, "2031.01.01")
	f.sign(blob, 0)
	require.JSONEq(t, `{"outcome":"ok","noRetry":false}`, w.send(t, get("/cron")).body)
	require.Equal(t, versionOf(blob), w.versions(t).Lists, "an hour before the interval has passed")
}
