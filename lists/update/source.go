package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/store"
)

// Source is where a feed is. It is for one caller at a time.
type Source struct {
	// Progress, if set, is called with the next step.
	Progress func(text string)

	blob   *url.URL // nil for a file
	path   string   // of the blob
	client *http.Client
	within time.Duration // for one file
	seen   seen
}

// seen is the last signature that a web server sent.
type seen struct {
	etag      string
	statement feed.Statement
}

// errURL is returned for a URL that is not one of a feed.
var errURL = errors.New("must be the http or https URL of a feed's directory, such as https://lists.example/feed/, without user, password and fragment")

// ParseURL returns the feed at a URL: that of its directory, or of the blob, whose
// name ends in .blob.
func ParseURL(text string) (*Source, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errURL
	}
	if !strings.HasSuffix(u.Path, ".blob") {
		u = u.JoinPath(feed.BlobName)
	}
	return &Source{blob: u, client: newClient(), within: getTime}, nil
}

// Parse returns the feed at a URL, in a directory or next to a blob's file.
func Parse(text string) (*Source, error) {
	if strings.Contains(text, "://") {
		return ParseURL(text)
	}
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		text = filepath.Join(text, feed.BlobName)
	}
	return &Source{path: text}, nil
}

// String returns the place of the feed, without secret parts of a URL.
func (s *Source) String() string {
	if s.blob == nil {
		return s.path
	}
	return public(s.blob)
}

// public returns a URL without its query.
func public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (s *Source) progress(text string) {
	if s.Progress != nil {
		s.Progress(text)
	}
}

// Newer returns the feed's lists if they are newer than those in use, and nil if
// they are the same. It returns a *feed.Error if they are older, have expired or
// do not verify, or if the feed cannot be reached.
func (s *Source) Newer(ctx context.Context, key feed.PublicKey, used feed.InUse, now time.Time) (*feed.Release, error) {
	if s.blob == nil {
		return s.newerFile(key, used, now)
	}
	release, err := s.newerURL(ctx, key, used, now, "")
	if replaced(err) {
		// The server may have sent a new blob with the old signature, since the feed
		// was being replaced, or one of both from a cache.
		if err := pause(ctx, replacing); err != nil {
			return nil, err
		}
		return s.newerURL(ctx, key, used, now, "no-cache")
	}
	return release, err
}

// replacing is how long replacing a feed may take.
var replacing = time.Second

// replaced reports whether err is that of a blob and a signature that do not
// belong together.
func replaced(err error) bool {
	var pair *pairError
	return errors.As(err, &pair)
}

// pairError is a refusal of a blob after its signature was accepted.
type pairError struct{ error }

func (e *pairError) Unwrap() error { return e.error }

func (s *Source) newerFile(key feed.PublicKey, used feed.InUse, now time.Time) (*feed.Release, error) {
	s.progress("reading " + s.path)
	release, err := store.File{Path: s.path, Key: key}.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &feed.Error{Reason: feed.Fetching, Text: "there is no file " + s.path}
	}
	if err != nil {
		return nil, asRefusal(feed.Fetching, err)
	}
	newer, err := check(release.Statement, used, now)
	if err != nil || !newer {
		return nil, err
	}
	return release, nil
}

// newerURL is Newer for a web server.
func (s *Source) newerURL(ctx context.Context, key feed.PublicKey, used feed.InUse, now time.Time, cacheControl string) (*feed.Release, error) {
	signature, err := s.signature(ctx, key, used, now, cacheControl)
	if err != nil || signature == nil {
		return nil, err
	}
	newer, err := check(signature.Statement, used, now)
	if err != nil || !newer {
		return nil, err
	}
	s.progress("fetching " + s.String() + ", version " + signature.Version)
	got, err := s.get(ctx, request{url: s.blob, limit: feed.MaxBlob, cacheControl: cacheControl})
	if err != nil {
		return nil, err
	}
	release, err := signature.Open(got.body)
	if err != nil {
		return nil, &pairError{err}
	}
	return release, nil
}

// signature fetches the signature; nil means that it is the one of the lists in
// use.
func (s *Source) signature(ctx context.Context, key feed.PublicKey, used feed.InUse, now time.Time, cacheControl string) (*feed.Signature, error) {
	beside := *s.blob
	beside.Path += feed.Suffix
	beside.RawPath = ""
	s.progress("fetching " + public(&beside))
	got, err := s.get(ctx, request{url: &beside, limit: feed.MaxSignature, etag: s.etag(used, now), cacheControl: cacheControl})
	if err != nil || got.unchanged {
		return nil, err
	}
	signature, err := key.Parse(got.body)
	if err != nil {
		return nil, err
	}
	s.seen = seen{got.etag, signature.Statement}
	return &signature, nil
}

// etag returns the entity tag of the last signature if it is that of the lists in
// use and has not expired: then the server need not send it again.
func (s *Source) etag(used feed.InUse, now time.Time) string {
	if used.Signed.IsZero() || !s.seen.statement.Signed.Equal(used.Signed) || s.seen.statement.Fresh(now) != nil {
		return ""
	}
	return s.seen.etag
}

// check reports whether lists may replace those in use, and are newer.
func check(s feed.Statement, used feed.InUse, now time.Time) (newer bool, err error) {
	if err := s.Fresh(now); err != nil {
		return false, err
	}
	return s.Supersedes(used)
}

// asRefusal returns err, with a reason if it has none.
func asRefusal(reason feed.Reason, err error) error {
	if errors.As(err, new(*feed.Error)) {
		return err
	}
	return &feed.Error{Reason: reason, Text: err.Error()}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Limits of a request to a feed.
const (
	getTime       = time.Minute      // for the whole response
	headerTime    = 20 * time.Second // until it begins
	mostRedirects = 5
	mostHeader    = 64 << 10 // bytes
)

// newClient returns a client that uses the proxy of the environment.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTime
	transport.MaxResponseHeaderBytes = mostHeader
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// checkRedirect refuses to leave TLS, since then anybody on the way could keep
// the newest lists from us.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
		return &feed.Error{Reason: feed.Fetching, Text: "it redirects from https to " + next.URL.Scheme + ", which anybody on the way can change: give the URL that it redirects to, or mend the server"}
	}
	if len(via) > mostRedirects {
		return fmt.Errorf("it redirects more than %d times", mostRedirects)
	}
	return nil
}

// request is a GET of one file.
type request struct {
	url          *url.URL
	limit        int64
	etag         string // of the version that we have; "" if none
	cacheControl string
}

// response is a file.
type response struct {
	body      []byte
	etag      string
	unchanged bool // it still has the entity tag of the request
}

// get fetches a file. Its errors have the file's URL without the query.
func (s *Source) get(ctx context.Context, r request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	got, err := s.do(ctx, r)
	if err != nil {
		return response{}, &feed.Error{Reason: reasonOf(err), Text: fmt.Sprintf("cannot fetch %s: %s", public(r.url), why(err))}
	}
	return got, nil
}

func (s *Source) do(ctx context.Context, r request) (response, error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), nil)
	if err != nil {
		return response{}, err
	}
	get.Header.Set("User-Agent", "addrspec")
	if r.etag != "" {
		get.Header.Set("If-None-Match", r.etag)
	}
	if r.cacheControl != "" {
		get.Header.Set("Cache-Control", r.cacheControl)
	}
	reply, err := s.client.Do(get)
	if err != nil {
		return response{}, err
	}
	defer reply.Body.Close()
	return read(reply, r)
}

// read reads the body of a response.
func read(reply *http.Response, r request) (response, error) {
	if reply.StatusCode == http.StatusNotModified && r.etag != "" {
		return response{etag: r.etag, unchanged: true}, nil
	}
	if reply.StatusCode != http.StatusOK {
		return response{}, fmt.Errorf("the server responded with %q", reply.Status)
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, r.limit+1))
	if int64(len(body)) > r.limit {
		return response{}, &feed.Error{Reason: feed.TooLarge, Text: fmt.Sprintf("it is larger than %d KiB", r.limit>>10)}
	}
	return response{body: body, etag: reply.Header.Get("ETag")}, err
}

// reasonOf returns the reason of err; by default the fetch failed.
func reasonOf(err error) feed.Reason {
	var refusal *feed.Error
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return feed.Fetching
}

// why describes err without the URL, which package http repeats in its errors.
func why(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var timeout net.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the end of the file"
	case errors.Is(err, context.Canceled):
		return "it was stopped"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the server did not send it in time"
	}
	return err.Error()
}
