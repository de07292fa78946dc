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
		return s.newerURL(ctx, key, used, now)
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

// newerURL is Newer for a web server. It fetches the signature, decides by its statement
// whether there is anything to do, and only then fetches the blob.
func (s *Source) newerURL(ctx context.Context, key feed.PublicKey, used feed.InUse, now time.Time) (*feed.Release, error) {
	beside := *s.blob
	beside.Path += feed.Suffix
	beside.RawPath = ""
	s.progress("fetching " + public(&beside))
	text, err := s.get(ctx, &beside, feed.MaxSignature)
	if err != nil {
		return nil, err
	}
	signature, err := key.Parse(text)
	if err != nil {
		return nil, err
	}
	newer, err := check(signature.Statement, used, now)
	if err != nil || !newer {
		return nil, err
	}
	s.progress("fetching " + s.String() + ", version " + signature.Version)
	blob, err := s.get(ctx, s.blob, feed.MaxBlob)
	if err != nil {
		return nil, err
	}
	return signature.Open(blob)
}

func check(s feed.Statement, used feed.InUse, now time.Time) (newer bool, err error) {
	if err := s.Fresh(now); err != nil {
		return false, err
	}
	return s.Supersedes(used)
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

// get fetches a file of at most limit bytes. Errors have the file's URL without the query.
func (s *Source) get(ctx context.Context, u *url.URL, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	body, err := s.do(ctx, u, limit)
	if err == nil {
		return body, nil
	}
	why := err
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
	return nil, &feed.Error{Reason: reasonOf(err), Text: fmt.Sprintf("cannot fetch %s: %s", public(u), why)}
}

func (s *Source) do(ctx context.Context, u *url.URL, limit int64) ([]byte, error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	get.Header.Set("User-Agent", "addrspec")
	get.Header.Set("Cache-Control", "no-cache") // a cache may have the blob and the signature of different versions
	reply, err := s.client.Do(get)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server responded with %q", reply.Status)
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, limit+1))
	if int64(len(body)) > limit {
		return nil, &feed.Error{Reason: feed.TooLarge, Text: fmt.Sprintf("it is larger than %d KiB", limit>>10)}
	}
	return body, err
}

// reasonOf returns the reason of err; by default the fetch failed.
func reasonOf(err error) feed.Reason {
	var refusal *feed.Error
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return feed.Fetching
}
