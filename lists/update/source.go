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

	// The last signature that a web server sent.
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
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTime
	transport.MaxResponseHeaderBytes = mostHeader
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	return &Source{blob: u, client: client, within: getTime}, nil
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
	if s.blob != nil {
		release, err := s.newerURL(ctx, key, used, now, "")
		var pair *pairError
		if !errors.As(err, &pair) {
			return release, err
		}
		// The server may have sent a new blob with the old signature, since the feed
		// was being replaced, or one of both from a cache.
		if err := pause(ctx, replacing); err != nil {
			return nil, err
		}
		return s.newerURL(ctx, key, used, now, "no-cache")
	}
	s.progress("reading " + s.path)
	release, err := store.File{Path: s.path, Key: key}.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &feed.Error{Reason: feed.Fetching, Text: "there is no file " + s.path}
	}
	if err != nil {
		return nil, &feed.Error{Reason: reasonOf(err), Text: err.Error()}
	}
	newer, err := check(release.Statement, used, now)
	if err != nil || !newer {
		return nil, err
	}
	return release, nil
}

// replacing is how long replacing a feed may take.
var replacing = time.Second

// pairError is a refusal of a blob after its signature was accepted.
type pairError struct{ error }

func (e *pairError) Unwrap() error { return e.error }

// newerURL is Newer for a web server. It fetches the signature, decides by its statement
// whether there is anything to do, and only then fetches the blob.
func (s *Source) newerURL(ctx context.Context, key feed.PublicKey, used feed.InUse, now time.Time, cacheControl string,
) (*feed.Release, error) {
	beside := *s.blob
	beside.Path += feed.Suffix
	beside.RawPath = ""
	s.progress("fetching " + public(&beside))
	etag := ""
	if !used.Signed.IsZero() && s.statement.Signed.Equal(used.Signed) && s.statement.Fresh(now) == nil {
		etag = s.etag // of the lists in use: the server need not send their signature again
	}
	text, etag, err := s.get(ctx, &beside, feed.MaxSignature, etag, cacheControl)
	if err != nil || text == nil {
		return nil, err
	}
	signature, err := key.Parse(text)
	if err != nil {
		return nil, err
	}
	s.etag, s.statement = etag, signature.Statement
	newer, err := check(signature.Statement, used, now)
	if err != nil || !newer {
		return nil, err
	}
	s.progress("fetching " + s.String() + ", version " + signature.Version)
	blob, _, err := s.get(ctx, s.blob, feed.MaxBlob, "", cacheControl)
	if err != nil {
		return nil, err
	}
	release, err := signature.Open(blob)
	if err != nil {
		return nil, &pairError{err}
	}
	return release, nil
}

// check reports whether lists may replace those in use, and are newer.
func check(s feed.Statement, used feed.InUse, now time.Time) (newer bool, err error) {
	if err := s.Fresh(now); err != nil {
		return false, err
	}
	return s.Supersedes(used)
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

// get fetches a file of at most limit bytes, and its entity tag. The body is nil if the
// file still has the tag etag. Errors have the file's URL without the query.
func (s *Source) get(ctx context.Context, u *url.URL, limit int64, etag, cacheControl string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	body, tag, err := s.do(ctx, u, limit, etag, cacheControl)
	if err == nil {
		return body, tag, nil
	}
	reason, why := reasonOf(err), err
	var wrapped *url.Error // which has the whole URL
	if errors.As(err, &wrapped) {
		why = wrapped.Err
	}
	var timeout net.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = errors.New("the connection ended before the end of the file")
	case errors.Is(err, context.Canceled):
		why = errors.New("it was stopped")
	case errors.As(err, &timeout) && timeout.Timeout():
		why = errors.New("the server did not send it in time")
	}
	return nil, "", &feed.Error{Reason: reason, Text: fmt.Sprintf("cannot fetch %s: %s", public(u), why)}
}

func (s *Source) do(ctx context.Context, u *url.URL, limit int64, etag, cacheControl string) ([]byte, string, error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", err
	}
	get.Header.Set("User-Agent", "addrspec")
	if etag != "" {
		get.Header.Set("If-None-Match", etag)
	}
	if cacheControl != "" {
		get.Header.Set("Cache-Control", cacheControl)
	}
	reply, err := s.client.Do(get)
	if err != nil {
		return nil, "", err
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusNotModified && etag != "" {
		return nil, etag, nil
	}
	if reply.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the server responded with %q", reply.Status)
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, limit+1))
	if int64(len(body)) > limit {
		return nil, "", &feed.Error{Reason: feed.TooLarge, Text: fmt.Sprintf("it is larger than %d KiB", limit>>10)}
	}
	return body, reply.Header.Get("ETag"), err
}

// reasonOf returns the reason of err; by default the fetch failed.
func reasonOf(err error) feed.Reason {
	var refusal *feed.Error
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return feed.Fetching
}
