package listupdate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

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
		return response{}, fmt.Errorf("the server answers %q", reply.Status)
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, r.limit+1))
	if int64(len(body)) > r.limit {
		return response{}, &feed.Error{Reason: feed.TooLarge, Text: fmt.Sprintf("it is larger than %d KiB", r.limit>>10)}
	}
	return response{body: body, etag: reply.Header.Get("ETag")}, err
}

// reasonOf returns the reason of err, by default that of what failed on the way.
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
