package book

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna" // browsers send the A-label form of a host, by UTS #46
)

// FreeRate is how many requests that cost nothing an account may send to a replica in a second:
// those with test keys, and those that only ask whether a key is good. They take no tokens of the
// account, because tests should not slow its other requests.
const FreeRate = 100

// KeyTerms are limits of a key within those of its account. The zero value sets none.
type KeyTerms struct {
	Expires time.Time `json:"expires,omitzero"`  // from then on the key is refused
	Budget  *Limit    `json:"budget,omitempty"`  // points a calendar month
	Rate    *Limit    `json:"rate,omitempty"`    // requests a second
	Origins []string  `json:"origins,omitempty"` // of browser pages that alone may use the key, see parseOrigin
	// Policy is the name of the policy of requests that name none; "" for none.
	Policy string `json:"policy,omitempty"`
}

const (
	lastYear        = 2200 // before the last time that has a Unix time in nanoseconds
	maxOrigins      = 20   // of a key
	maxOriginLength = 300  // bytes: scheme, a host of at most 253, port
)

func (t *KeyTerms) checkExpiry(now time.Time) error {
	if !t.Expires.IsZero() && !t.Expires.After(now) {
		over := t.Expires.UTC().Format(time.RFC3339)
		return wrong("expires", fmt.Errorf("the expiry %s is over; give a later one, or revoke the key", over))
	}
	return nil
}

// p was read by the default's name.
func (t *KeyTerms) checkPolicy(p Policy) error {
	if t.Policy != "" && p.Version == 0 {
		return wrong("policy", fmt.Errorf("the account has no policy %q", t.Policy))
	}
	return nil
}

func (t *KeyTerms) args() []any {
	expires := any(nil)
	if !t.Expires.IsZero() {
		expires = t.Expires.UnixNano()
	}
	return []any{expires, t.Budget, t.Rate, strings.Join(t.Origins, " "), t.Policy}
}

// A FieldError says which part of a key that a person gave is wrong.
type FieldError struct {
	Field string // name, expires, budget, rate, origins, policy or grace
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

func wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// originNames converts the host of an origin as browsers do for a lookup.
var originNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// parseOrigin returns the serialisation of a browser origin (RFC 6454 section 6.2), as browsers send
// it in the header Origin. A slash may follow. The scheme is https, or http for a page on the
// developer's own machine.
func parseOrigin(text string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("%.80q is not an origin such as https://shop.example: %s", text, why)
	}
	switch {
	case text == "null":
		return refuse("null is the origin of every sandboxed page and local file, so it identifies none")
	case strings.Contains(text, "*"):
		return refuse("there are no wildcards; list each origin")
	case len(text) > maxOriginLength:
		return refuse(fmt.Sprintf("it is over %d bytes", maxOriginLength))
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		return refuse("it must begin with https:// (or http:// for localhost)")
	case u.Opaque != "" || u.User != nil || u.Path != "" || u.RawQuery != "" ||
		u.ForceQuery || strings.Contains(text, "#"):
		return refuse("it has only scheme, host and port: no user, path, query or fragment")
	case u.Hostname() == "":
		return refuse("the host is missing")
	}
	host, odd := u.Hostname(), false
	ip, err := netip.ParseAddr(host)
	local := ip.IsLoopback()
	switch {
	case err != nil:
		name, err := originNames.ToASCII(host)
		last := name[strings.LastIndexByte(name, '.')+1:]
		// The URL standard reads a name as an IPv4 address if its last label is a number.
		odd = err != nil || !utf8.ValidString(host) || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
		host, local = name, name == "localhost" || strings.HasSuffix(name, ".localhost")
	case ip.Is6():
		host, odd = "["+ip.String()+"]", ip.Zone() != "" || ip.Is4In6()
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	switch {
	case odd:
		return refuse("the host is neither a domain name nor an IP address")
	case u.Scheme == "http" && !local:
		return refuse("http is for localhost only; a page elsewhere must be loaded by https, or the key crosses networks unencrypted")
	case err != nil || port == 0 || strings.HasSuffix(u.Host, ":"):
		return refuse("the port must be 1 to 65535")
	case u.Port() == "", u.Scheme == "https" && port == 443, u.Scheme == "http" && port == 80:
		return u.Scheme + "://" + host, nil
	}
	return fmt.Sprintf("%s://%s:%d", u.Scheme, host, port), nil
}
