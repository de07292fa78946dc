package mx

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// result is what one reply states about a name.
type result struct {
	found     bool          // it has an exchange, or an address
	exchanges string        // Result.Exchanges
	noData    bool          // it exists, but has no records of the type
	ttl       time.Duration // least of the records used, unclamped
	target    string        // if set, the reply ends at a CNAME to this name, which has to be queried
	hops      int           // CNAMEs followed
}

// decide evaluates msg, the reply to a question for the records of name, in lower case, that
// have a type. It returns an error if msg does not prove a result.
func decide(msg *dns.Msg, name string, qtype uint16) (result, *Error) {
	if msg.Rcode != dns.RcodeSuccess && msg.Rcode != dns.RcodeNameError {
		return result{}, &Error{Kind: Failure, Reason: Rcode, Rcode: msg.Rcode, Detail: extendedError(msg)}
	}
	a := result{ttl: forever}
	for target := aliasOf(msg.Answer, name); target != nil; target = aliasOf(msg.Answer, name) {
		a.hops++
		if a.hops > maxHops {
			return result{}, &Error{Kind: Failure, Reason: Loop}
		}
		a.ttl = min(a.ttl, seconds(target.Hdr.Ttl))
		name = strings.ToLower(target.Target)
	}
	var own []dns.RR
	empty := false // a record without data, which miekg/dns decodes
	for _, rr := range msg.Answer {
		if rr.Header().Rrtype == qtype && isOwner(rr, name) {
			own = append(own, rr)
			a.ttl = min(a.ttl, seconds(rr.Header().Ttl))
			mx, isMX := rr.(*dns.MX)
			empty = empty || isMX && mx.Mx == ""
		}
	}
	switch {
	case empty, len(own) > 0 && msg.Rcode == dns.RcodeNameError:
		return result{}, &Error{Kind: Failure, Reason: Malformed}
	case len(own) == 0:
		return decideNegative(msg, name, a)
	case qtype == dns.TypeMX:
		a.exchanges = exchangesOf(own)
		a.found = a.exchanges != ""
	default:
		a.found = true
	}
	return a, nil
}

// extendedError returns the name of the first extended error of msg (RFC 8914).
// It omits the error's text, which may contain the domain.
func extendedError(msg *dns.Msg) string {
	opt := msg.IsEdns0()
	if opt == nil {
		return ""
	}
	for _, option := range opt.Option {
		if e, ok := option.(*dns.EDNS0_EDE); ok {
			return dns.ExtendedErrorCodeToString[e.InfoCode]
		}
	}
	return ""
}

// aliasOf returns the CNAME record of name, or nil.
func aliasOf(records []dns.RR, name string) *dns.CNAME {
	for _, rr := range records {
		if c, ok := rr.(*dns.CNAME); ok && isOwner(rr, name) {
			return c
		}
	}
	return nil
}

func isOwner(rr dns.RR, name string) bool {
	h := rr.Header()
	return h.Class == dns.ClassINET && strings.EqualFold(h.Name, name)
}

const forever = time.Duration(1<<63 - 1)

// seconds returns a TTL, which is 0 if its top bit is set (RFC 2181 section 8).
func seconds(ttl uint32) time.Duration {
	if int32(ttl) < 0 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// decideNegative evaluates a reply without the records for name, the last of the CNAME chain.
//
// NXDOMAIN is indicated by the RCODE, and NODATA by the SOA record of a zone that contains the
// name (RFC 2308 section 2). If the reply ends at a CNAME into another zone, its target has to
// be queried. A referral, with NS records in place of the SOA, is an error. An empty reply is
// accepted if the server recurses or is authoritative.
func decideNegative(msg *dns.Msg, name string, a result) (result, *Error) {
	var soa *dns.SOA
	referral := false
	for _, rr := range msg.Ns {
		switch r := rr.(type) {
		case *dns.SOA:
			if dns.IsSubDomain(r.Hdr.Name, name) {
				soa = r
			}
		case *dns.NS:
			referral = true
		}
	}
	a.noData = msg.Rcode == dns.RcodeSuccess
	switch {
	case soa != nil:
		a.ttl = min(a.ttl, seconds(soa.Hdr.Ttl), seconds(soa.Minttl))
		return a, nil
	case msg.Rcode == dns.RcodeNameError:
	case a.hops > 0:
		a.target = name
		return a, nil
	case referral || !msg.Authoritative && !msg.RecursionAvailable:
		return result{}, &Error{Kind: Failure, Reason: Lame}
	}
	a.ttl = 0 // RFC 2308 section 5: do not cache without an SOA
	return a, nil
}

// maxExchanges is how many bytes Result.Exchanges has at most: more than the exchanges of
// nearly every domain have, and with the number of cached domains a bound for all.
const maxExchanges = 1024

// exchangesOf returns Result.Exchanges. A name that several records have counts with its
// lowest preference. Null MX names no exchange.
func exchangesOf(records []dns.RR) string {
	lowest := map[string]uint16{}
	for _, rr := range records {
		if r, ok := rr.(*dns.MX); ok {
			name := exchangeName(r.Mx)
			preference, known := lowest[name]
			if name != "" && (!known || r.Preference < preference) {
				lowest[name] = r.Preference
			}
		}
	}
	names := strings.Join(slices.SortedFunc(maps.Keys(lowest), func(a, b string) int {
		return cmp.Or(cmp.Compare(lowest[a], lowest[b]), strings.Compare(a, b))
	}), " ")
	if len(names) > maxExchanges {
		const rest = " *"
		return names[:strings.LastIndexByte(names[:maxExchanges-len(rest)+1], ' ')] + rest
	}
	return names
}

// exchangeName returns the name of an MX record in canonical form, or "" if no host that takes
// mail from the Internet can have it: the root (null MX), an IPv4 address, a name that can only
// be this machine (RFC 6761 section 6.3), does not exist (6.4), or is not in the public DNS (RFC
// 6762 section 3, RFC 7686). Any other name of the DNS is one (RFC 2181 section 11): where the
// record names a host that Cloudflare proxies, it publishes _dc-mx.<hash>.<domain>. Names below
// .test and .example are exchanges, so that test zones work.
func exchangeName(name string) string {
	name, err := canonicalName(name)
	top := name[strings.LastIndexByte(name, '.')+1:]
	switch top {
	case "localhost", "invalid", "local", "onion":
		return ""
	}
	if err != nil || strings.Trim(top, "0123456789") == "" {
		return ""
	}
	return name
}

const (
	maxName  = 253 // bytes of a name in text, RFC 1035 section 2.3.4 less two
	maxLabel = 63
)

// canonicalName returns a name as it is queried and cached: in lower case, without a final
// dot. It returns "" for a name that cannot have MX records: one that is too long, has an empty
// label, or a character other than letters, digits, hyphens and underscores, which names of
// services have (RFC 8552). It returns an error for a U-label.
func canonicalName(name string) (string, error) {
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxName {
		return "", nil
	}
	upper, label := false, 0
	for i := range len(name) {
		switch b := name[i]; {
		case b == '.' && label > 0:
			label = -1
		case b >= 0x80:
			return "", &Error{Kind: Failure, Reason: NotALabel}
		case 'A' <= b && b <= 'Z':
			upper = true
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-', b == '_':
		default:
			return "", nil
		}
		label++
		if label > maxLabel {
			return "", nil
		}
	}
	if label == 0 {
		return "", nil
	}
	if upper {
		name = strings.ToLower(name)
	}
	return name, nil
}
