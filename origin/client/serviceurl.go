package client

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// parseURL parses the service's URL. Its path, if any, precedes that of every
// request.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("the URL of the service does not parse; give one such as https://addrspec.example")
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, fmt.Errorf("the URL of the service is %q: it must begin with https:// and name a host, such as https://addrspec.example", u.Redacted())
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, errors.New("the URL of the service has a user name, a query or a fragment; give only scheme, host and path, and the API key apart from it")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	return u, nil
}

// Exposed reports whether the key and the addresses would be readable on the
// network: the URL is http, and the host is not this machine.
func (c *Client) Exposed() bool {
	if c.base.Scheme == "https" {
		return false
	}
	ip, err := netip.ParseAddr(c.base.Hostname())
	return c.base.Hostname() != "localhost" && (err != nil || !ip.Unmap().IsLoopback())
}

// checkKey returns an error if a header cannot contain the key (RFC 9110 section
// 5.5).
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("there is no API key")
	case len(key) > maxKey, strings.ContainsFunc(key, notVisible):
		return errors.New("the API key has white space or other characters that no key has, or is too long; check that all of it was copied, and nothing else")
	}
	return nil
}

const maxKey = 256 // bytes; a key of the service has 42

func notVisible(r rune) bool { return r <= ' ' || r > '~' }
