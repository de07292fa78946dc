package listupdate

import (
	"context"
	"errors"
	"io/fs"
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
	// Progress, if set, is called with what is done next.
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
var errURL = errors.New("must be the http or https URL of a feed's folder, such as https://lists.example/feed/, without user, password and fragment")

// ParseURL returns the feed at a URL: that of its folder, or of the blob, whose
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

// Parse returns the feed at a URL, in a folder or beside a blob's file.
func Parse(text string) (*Source, error) {
	if strings.Contains(text, "://") {
		return ParseURL(text)
	}
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		text = filepath.Join(text, feed.BlobName)
	}
	return &Source{path: text}, nil
}

// String returns where the feed is, without what may be secret in a URL.
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

// pairError is a refusal of a blob whose signature had been accepted.
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
