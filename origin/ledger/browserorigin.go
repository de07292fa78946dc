package ledger

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna" // browsers send the A-label form of a host, by UTS #46
)

// Bounds of the origins of a key.
const (
	MaxOrigins      = 20
	maxOriginLength = 300 // bytes: scheme, a host of at most 253, port
)

// ParseOrigin returns the serialisation of a browser origin (RFC 6454 section 6.2),
// as browsers send it in the header Origin: scheme, host and port, in lower case,
// without the scheme's default port. A slash may follow. The scheme is https, or
// http for a page on the developer's own machine.
func ParseOrigin(text string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("%q is not an origin such as https://shop.example: %s", shorten(text), why)
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
	case u.Opaque != "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return refuse("it has only scheme, host and port: no user, path, query or fragment")
	}
	host, local, err := originHost(u.Hostname())
	if err != nil {
		return refuse(err.Error())
	}
	if u.Scheme == "http" && !local {
		return refuse("http is for localhost only; a page elsewhere must be loaded by https, or the key crosses networks unencrypted")
	}
	port, err := originPort(u)
	if err != nil {
		return refuse(err.Error())
	}
	return u.Scheme + "://" + host + port, nil
}

var (
	errNoHost  = errors.New("the host is missing")
	errOddHost = errors.New("the host is neither a domain name nor an IP address")
	errOddPort = errors.New("the port must be 1 to 65535")
)

// originHost returns a host as browsers serialise it (the URL standard, section
// 3.5), and whether it is this machine.
func originHost(host string) (serialised string, local bool, err error) {
	if host == "" {
		return "", false, errNoHost
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" || ip.Is4In6() {
			return "", false, errOddHost
		}
		if ip.Is6() {
			return "[" + ip.String() + "]", ip.IsLoopback(), nil
		}
		return ip.String(), ip.IsLoopback(), nil
	}
	name, err := idna.Lookup.ToASCII(strings.ToLower(host))
	if err != nil || !isHostName(name) {
		return "", false, errOddHost
	}
	return name, name == "localhost" || strings.HasSuffix(name, ".localhost"), nil
}

// isHostName reports whether a name in lower case is a domain name that a browser
// does not read as an IPv4 address: its last label is not a number.
func isHostName(name string) bool {
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(name) <= 253 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

// originPort returns ":PORT", or "" for the default port of the scheme.
func originPort(u *url.URL) (string, error) {
	if u.Port() == "" {
		if strings.HasSuffix(u.Host, ":") {
			return "", errOddPort
		}
		return "", nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case err != nil || port == 0:
		return "", errOddPort
	case u.Scheme == "https" && port == 443, u.Scheme == "http" && port == 80:
		return "", nil
	}
	return ":" + strconv.FormatUint(port, 10), nil
}

// parseOrigins returns the serialisations of origins, each once; nil for none.
func parseOrigins(texts []string) (list []string, err error) {
	for _, text := range texts {
		origin, err := ParseOrigin(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
		if len(list) > MaxOrigins {
			return nil, fmt.Errorf("a key may be bound to %d origins at most; create another key for the rest", MaxOrigins)
		}
	}
	return list, nil
}

// shorten shortens text for an error.
func shorten(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
