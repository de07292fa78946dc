package edge_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A fakeFeed is a web server with lists.blob and its signature, whose behaviour a test
// changes while workers ask it.
type fakeFeed struct {
	url    string
	signer signer

	mu    sync.Mutex
	serve http.HandlerFunc
}

// startFeed serves a feed until the test ends. Until the first change it is empty.
func startFeed(t testing.TB) *fakeFeed {
	t.Helper()
	f := &fakeFeed{signer: newSigner(t), serve: http.NotFound}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		serve := f.serve
		f.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.url = server.URL + "/feed"
	return f
}

// settings returns a worker's settings for this feed, which it reads each second.
func (f *fakeFeed) settings() []string {
	return []string{"ADDRSPEC_LISTS_URL=" + f.url, "ADDRSPEC_LISTS_KEY=" + f.signer.key(), "ADDRSPEC_LISTS_INTERVAL=1s"}
}

// change replaces the behaviour of the feed.
func (f *fakeFeed) change(serve http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serve = serve
}

// publish serves this blob and this signature.
func (f *fakeFeed) publish(blob, signature []byte) { f.change(files(blob, signature)) }

// sign publishes a blob that was signed some time ago, for 30 days.
func (f *fakeFeed) sign(blob []byte, ago time.Duration) {
	signed := time.Now().Add(-ago)
	f.publish(blob, f.signer.sign(blob, signed.Unix(), signed.Add(30*24*time.Hour).Unix()))
}

// files serves the two files of a feed.
func files(blob, signature []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed/lists.blob":
			w.Write(blob)
		case "/feed/lists.blob.minisig":
			w.Write(signature)
		default:
			http.NotFound(w, r)
		}
	}
}

// only returns a handler for one of the paths of a feed, and other for the rest.
func only(path string, serve, other http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			serve(w, r)
		} else {
			other(w, r)
		}
	}
}
