package ledger

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna" // browsers send the A-label form of a host, by UTS #46
)

// A key's secret is 42 ASCII bytes:
//
//	offset  bytes  what
//	0       4      "ask_"
//	4       32     random, each one of the 62 digits below (190 bits)
//	36      6      checksum of bytes 0 to 35
//
// The digits, in order of value, are 0-9, A-Z, a-z. The checksum is CRC-32 as
// in zlib, PNG and IEEE 802.3 (polynomial 0xEDB88320 reflected, initial value
// and final XOR 0xFFFFFFFF), an unsigned 32-bit number, written in base 62 with
// the most significant digit first, padded with zeros to six digits, which
// suffice since 62^6 is more than 2^32. The checksum is not secret and proves
// nothing; it lets a host refuse a mistyped key without a lookup.
//
// Example: ask_00000000000000000000000000000000 is followed by 2CGNRW.
const (
	secretPrefix   = "ask_"
	secretRandom   = 32
	secretChecksum = 6
	secretLength   = len(secretPrefix) + secretRandom + secretChecksum

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret returns a new random secret.
func NewSecret() string {
	secret := make([]byte, 0, secretLength)
	secret = append(secret, secretPrefix...)
	secret = appendRandom(secret, secretRandom)
	return string(appendChecksum(secret))
}

// WellFormed reports whether secret has the form of a secret and its checksum is
// right.
func WellFormed(secret string) bool {
	if len(secret) != secretLength || secret[:len(secretPrefix)] != secretPrefix {
		return false
	}
	var given, want [secretLength]byte // a conversion of this length would allocate
	copy(given[:], secret)
	body := append(want[:0], given[:secretLength-secretChecksum]...)
	for _, b := range body[len(secretPrefix):] {
		if !isDigit(b) {
			return false
		}
	}
	return subtle.ConstantTimeCompare(appendChecksum(body), given[:]) == 1
}

// hint returns the part of a secret that lists of keys show: its prefix and four
// of the 32 random digits.
func hint(secret string) string { return secret[:len(secretPrefix)+4] }

// A digest is the SHA-256 of a secret. Only it and the hint are stored. A plain
// hash suffices: a secret has 190 random bits, so there is no dictionary to try.
type digest [sha256.Size]byte

func digestOf(secret string) digest {
	var stack [secretLength]byte // a conversion of this length would allocate
	return sha256.Sum256(append(stack[:0], secret...))
}

func (d digest) hex() string { return hex.EncodeToString(d[:]) }

// appendRandom appends n uniformly distributed digits. It discards bytes from
// 248 = 4*62 on, which would favour the first digits.
func appendRandom(dst []byte, n int) []byte {
	var pool [64]byte
	for n > 0 {
		rand.Read(pool[:]) // never fails, see crypto/rand
		for _, b := range pool {
			if b < 248 && n > 0 {
				dst = append(dst, digits[b%62])
				n--
			}
		}
	}
	return dst
}

func appendChecksum(body []byte) []byte {
	sum := crc32.ChecksumIEEE(body)
	var tail [secretChecksum]byte
	for i := len(tail) - 1; i >= 0; i-- {
		tail[i] = digits[sum%62]
		sum /= 62
	}
	return append(body, tail[:]...)
}

func isDigit(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// KeyTerms are limits of a key within those of its account. The zero value sets
// none.
type KeyTerms struct {
	Expires time.Time // from then on the key is refused
	Budget  *Limit    // points a calendar month
	Rate    *Limit    // requests a second
	Origins []string  // of browser pages that alone may use the key, see parseOrigin
	Policy  string    // the name of the policy of requests that name none; "" for none
}

// check checks the terms and replaces each origin by its serialisation.
func (t *KeyTerms) check() (err error) {
	if t.Expires.Year() > lastYear {
		return wrong("expires", fmt.Errorf("a key must expire by the year %d; leave the expiry out for a key that does not expire", lastYear))
	}
	t.Expires = t.Expires.UTC().Round(0) // without the monotonic clock
	t.Origins, err = parseOrigins(t.Origins)
	return cmp.Or(checkKeyLimit("budget", t.Budget, checkPoints), checkKeyLimit("rate", t.Rate, checkRate), wrong("origins", err), wrong("policy", checkDefault(t.Policy)))
}

// checkDefault checks the name of a default policy, which may be empty.
func checkDefault(name string) error {
	if name == "" {
		return nil
	}
	return CheckPolicyName(name)
}

func checkKeyLimit(field string, l *Limit, check func(Limit) error) error {
	if l != nil && *l == Unlimited {
		return wrong(field, fmt.Errorf("a key's %s must be a number; leave it out to use the account's", field))
	}
	return wrong(field, checkOptional(l, check))
}

// lastYear is before the last time that has a Unix time in nanoseconds.
const lastYear = 2200

// checkExpiry returns an error for an expiry that is over.
func (t *KeyTerms) checkExpiry(now time.Time) error {
	if !t.Expires.IsZero() && !t.Expires.After(now) {
		return wrong("expires", fmt.Errorf("the expiry %s is over; give a later one, or revoke the key", t.Expires.UTC().Format(time.RFC3339)))
	}
	return nil
}

// args returns the terms as arguments of a statement.
func (t *KeyTerms) args() []any {
	expires := any(nil)
	if !t.Expires.IsZero() {
		expires = t.Expires.UnixNano()
	}
	return []any{expires, t.Budget.orNull(), t.Rate.orNull(), strings.Join(t.Origins, " "), t.Policy}
}

// A FieldError says which part of a key that a person gave is wrong.
type FieldError struct {
	Field string // name, expires, budget, rate, origins, policy or grace
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// wrong returns err as the error of a field, nil for nil.
func wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

func checkKeyName(name string) error { return wrong("name", checkName("a key", name)) }

// Bounds of the origins of a key.
const (
	maxOrigins      = 20
	maxOriginLength = 300 // bytes: scheme, a host of at most 253, port
)

// parseOrigin returns the serialisation of a browser origin (RFC 6454 section 6.2),
// as browsers send it in the header Origin: scheme, host and port, in lower case,
// without the scheme's default port. A slash may follow. The scheme is https, or
// http for a page on the developer's own machine.
func parseOrigin(text string) (string, error) {
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
		origin, err := parseOrigin(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
		if len(list) > maxOrigins {
			return nil, fmt.Errorf("a key may be bound to %d origins at most; create another key for the rest", maxOrigins)
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
