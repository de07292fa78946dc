package update_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/lists/update"
)

// A site is a web server with a feed, and the lists on it.
type site struct {
	*httptest.Server
	secret feed.SecretKey
	dir    string

	mu       sync.Mutex
	requests []string // method, path and status
}

// newSite serves a feed of the project's lists with another day.
func newSite(t *testing.T, signed time.Time) (*site, *feed.Release) {
	t.Helper()
	s := &site{secret: feedtest.Key(t), dir: t.TempDir()}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s, s.publish(t, "2099.01.01", signed)
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	file := filepath.Join(s.dir, filepath.Base(r.URL.Path))
	http.ServeFile(&recorder{w, r, s}, r, file)
}

// recorder records the request before the client sees its status.
type recorder struct {
	http.ResponseWriter
	r *http.Request
	s *site
}

func (w *recorder) WriteHeader(status int) {
	w.s.mu.Lock()
	w.s.requests = append(w.s.requests, fmt.Sprint(w.r.Method, " ", w.r.URL.Path, " ", status))
	w.s.mu.Unlock()
	w.ResponseWriter.WriteHeader(status)
}

// taken returns the requests since the last call.
func (s *site) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func (s *site) publish(t *testing.T, day string, signed time.Time) *feed.Release {
	t.Helper()
	release := feedtest.Sign(t, s.secret, feedtest.Dated(projectLists(t), day), signed)
	feedtest.Write(t, s.dir, release.Blob, release.Text)
	return release
}

func (s *site) source(t *testing.T) *update.Source {
	t.Helper()
	source, err := update.Parse(s.URL + "/feed/")
	require.NoError(t, err)
	return source
}

func projectLists(t testing.TB) []byte {
	t.Helper()
	blob, err := os.ReadFile("../lists.blob")
	require.NoError(t, err)
	return blob
}

var builtIn = feed.InUse{Version: feed.DescribeBuiltIn().Version}

func inUse(r *feed.Release) feed.InUse { return feed.InUse{Version: r.Version, Signed: r.Signed} }

// now is a second of the clock, as signatures have it.
func now() time.Time { return time.Now().Truncate(time.Second) }

func requireReason(t testing.TB, err error, reason feed.Reason, words string) {
	t.Helper()
	var refusal *feed.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, reason, refusal.Reason, err)
	require.ErrorContains(t, err, words)
}

// The signature decides whether the blob is fetched.
func TestNewer(t *testing.T) {
	s, want := newSite(t, now())
	source, key := s.source(t), s.secret.Public()
	var progress []string
	source.Progress = func(text string) { progress = append(progress, text) }
	got, err := source.Newer(t.Context(), key, builtIn, now())
	require.NoError(t, err)
	require.Equal(t, want.Statement, got.Statement)
	require.Equal(t, want.Blob, got.Blob)
	require.Equal(t, []string{"GET /feed/lists.blob.minisig 200", "GET /feed/lists.blob 200"}, s.taken())
	require.Len(t, progress, 2)

	got, err = source.Newer(t.Context(), key, inUse(want), now())
	require.NoError(t, err)
	require.Nil(t, got)
	require.Equal(t, []string{"GET /feed/lists.blob.minisig 200"}, s.taken())

	next := s.publish(t, "2099.01.02", now().Add(time.Second))
	got, err = source.Newer(t.Context(), key, inUse(want), now())
	require.NoError(t, err)
	require.Equal(t, next.Version, got.Version)
	require.Equal(t, []string{"GET /feed/lists.blob.minisig 200", "GET /feed/lists.blob 200"}, s.taken())
}

func TestRefusedFeeds(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *site, r *feed.Release) feed.InUse
		reason feed.Reason
		words  string
	}{
		{"signed before the lists in use", func(t *testing.T, s *site, r *feed.Release) feed.InUse {
			return feed.InUse{Version: r.Version, Signed: r.Signed.Add(time.Second)}
		}, feed.Older, "before those in use"},
		{"older than the built-in lists", func(t *testing.T, s *site, _ *feed.Release) feed.InUse {
			s.publish(t, "2020.01.01", now())
			return builtIn
		}, feed.Older, "are older than"},
		{"expired", func(t *testing.T, s *site, _ *feed.Release) feed.InUse {
			s.publish(t, "2099.01.01", now().Add(-31*24*time.Hour))
			return builtIn
		}, feed.Expired, "expired on"},
		{"a damaged byte", func(t *testing.T, s *site, r *feed.Release) feed.InUse {
			r.Blob[len(r.Blob)/2] ^= 1
			feedtest.Write(t, s.dir, r.Blob, r.Text)
			return builtIn
		}, feed.Damaged, "checksum"},
		{"a large blob", func(t *testing.T, s *site, r *feed.Release) feed.InUse {
			feedtest.Write(t, s.dir, make([]byte, feed.MaxBlob+1), r.Text)
			return builtIn
		}, feed.TooLarge, "larger than 4096 KiB"},
		{"a large signature", func(t *testing.T, s *site, r *feed.Release) feed.InUse {
			feedtest.Write(t, s.dir, r.Blob, make([]byte, feed.MaxSignature+1))
			return builtIn
		}, feed.TooLarge, "larger than 4 KiB"},
		{"no signature", func(t *testing.T, s *site, _ *feed.Release) feed.InUse {
			require.NoError(t, os.Remove(filepath.Join(s.dir, "lists.blob.minisig")))
			return builtIn
		}, feed.Fetching, `the server responded with "404 Not Found"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, release := newSite(t, now())
			used := c.change(t, s, release)
			got, err := s.source(t).Newer(t.Context(), s.secret.Public(), used, now())
			requireReason(t, err, c.reason, c.words)
			require.Nil(t, got)
		})
	}
}

// What a broken or hostile server does ends in time, in bounded memory, and with
// a sentence that has no part of the URL that may be secret.
func TestHostileServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		serve  http.HandlerFunc
		reason feed.Reason
		words  string
	}{
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, feed.Fetching, "in time"},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "u")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond) // real time: slower than any limit
			}
		}, feed.Fetching, "in time"},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}, feed.TooLarge, "larger than 4 KiB"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "336")
			fmt.Fprint(w, "untrusted comment: x")
		}, feed.Fetching, "ended before the end"},
		{"failing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, feed.Fetching, "502 Bad Gateway"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\n\n\n\n") }, feed.BadSignature, "not one of minisign"},
		{"in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, feed.Fetching, "redirects more than 5 times"},
		{"unasked 304", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, feed.Fetching, "304"},
		{"to a file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}, feed.Fetching, "unsupported protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.serve)
			defer server.Close()
			source, err := update.Parse(server.URL + "/feed?token=hunter2")
			require.NoError(t, err)
			source.Within(2 * time.Minute)
			if c.words == "in time" {
				source.Within(300 * time.Millisecond)
			}
			_, err = source.Newer(t.Context(), feedtest.Key(t).Public(), builtIn, now())
			requireReason(t, err, c.reason, c.words)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, source.String(), "hunter2")
		})
	}
	source, err := update.Parse("http://127.0.0.1:1/")
	require.NoError(t, err)
	_, err = source.Newer(t.Context(), feedtest.Key(t).Public(), builtIn, now())
	requireReason(t, err, feed.Fetching, "connection refused")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = source.Newer(stopped, feedtest.Key(t).Public(), builtIn, now())
	requireReason(t, err, feed.Fetching, "it was stopped")
}

// A redirect may not leave TLS; another one is followed.
func TestRedirects(t *testing.T) {
	s, want := newSite(t, now())
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/out") {
			http.Redirect(w, r, s.URL+"/feed/"+filepath.Base(r.URL.Path), http.StatusMovedPermanently)
			return
		}
		http.ServeFile(w, r, filepath.Join(s.dir, filepath.Base(r.URL.Path)))
	}))
	defer secure.Close()
	newer := func(url string) (*feed.Release, error) {
		source, err := update.Parse(url)
		require.NoError(t, err)
		source.Use(secure.Client())
		return source.Newer(t.Context(), s.secret.Public(), builtIn, now())
	}
	got, err := newer(secure.URL + "/feed")
	require.NoError(t, err)
	require.Equal(t, want.Version, got.Version)

	_, err = newer(secure.URL + "/out")
	requireReason(t, err, feed.Fetching, "redirects from https to http")

	plain := httptest.NewServer(http.RedirectHandler(secure.URL+"/feed/lists.blob.minisig", http.StatusFound))
	defer plain.Close()
	_, err = newer(plain.URL) // both files become the signature, so that is as far as it gets
	require.Error(t, err)
	require.NotContains(t, err.Error(), "redirects")
}

func TestFileSource(t *testing.T) {
	s, want := newSite(t, now())
	for _, path := range []string{s.dir, filepath.Join(s.dir, "lists.blob")} {
		source, err := update.Parse(path)
		require.NoError(t, err)
		got, err := source.Newer(t.Context(), s.secret.Public(), builtIn, now())
		require.NoError(t, err)
		require.Equal(t, want.Version, got.Version)
		got, err = source.Newer(t.Context(), s.secret.Public(), inUse(want), now())
		require.NoError(t, err)
		require.Nil(t, got)
		_, err = source.Newer(t.Context(), s.secret.Public(), builtIn, want.Expires)
		requireReason(t, err, feed.Expired, "expired")
		_, err = source.Newer(t.Context(), feedtest.Key(t).Public(), builtIn, now())
		requireReason(t, err, feed.OtherKey, "key")
	}
	source, err := update.Parse(filepath.Join(s.dir, "none"))
	require.NoError(t, err)
	_, err = source.Newer(t.Context(), s.secret.Public(), builtIn, now())
	requireReason(t, err, feed.Fetching, "there is no file")
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://lists.example/feed/":        "https://lists.example/feed/lists.blob",
		"https://lists.example/feed":         "https://lists.example/feed/lists.blob",
		"https://lists.example":              "https://lists.example/lists.blob",
		"http://127.0.0.1:81/a/eu.blob?k=v":  "http://127.0.0.1:81/a/eu.blob",
		"https://lists.example/feed/?sig=ab": "https://lists.example/feed/lists.blob",
	} {
		source, err := update.ParseURL(text)
		require.NoError(t, err, text)
		require.Equal(t, want, source.String())
	}
	for _, text := range []string{"", "lists.example", "ftp://lists.example/", "file:///etc", "https://", "https://user:hunter2@lists.example/", "https://lists.example/#x", "https://a b/", "://"} {
		_, err := update.ParseURL(text)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("https://lists.example/feed/?a=b")
	f.Add("http://[::1]:80/a.blob")
	f.Fuzz(func(t *testing.T, text string) {
		source, err := update.ParseURL(text)
		if err != nil {
			return
		}
		again, err := update.ParseURL(source.String())
		if err == nil {
			require.Equal(t, source.String(), again.String())
		}
	})
}
