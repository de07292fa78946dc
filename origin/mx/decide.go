package mx

import (
	"cmp"
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

// decide evaluates msg, the reply to q, whose name is in lower case. It returns an error
// if msg does not prove a result.
func decide(msg *dns.Msg, q *question) (result, *Error) {
	if msg.Rcode != dns.RcodeSuccess && msg.Rcode != dns.RcodeNameError {
		return result{}, &Error{Kind: Failure, Reason: Rcode, Rcode: msg.Rcode, Detail: extendedError(msg)}
	}
	end, a, err := followCNAMEs(msg.Answer, q.name)
	if err != nil {
		return result{}, err
	}
	own, ttl := recordsOf(msg.Answer, end, q.qtype)
	if len(own) == 0 {
		return decideNegative(msg, end, a)
	}
	a.found, a.ttl = true, min(a.ttl, ttl)
	if q.qtype == dns.TypeMX {
		a.exchanges = joinExchanges(exchangesOf(own))
		a.found = a.exchanges != ""
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

// followCNAMEs follows the CNAMEs in records from name and returns the last
// target. The TTL of a is the least of theirs.
func followCNAMEs(records []dns.RR, name string) (end string, a result, err *Error) {
	a.ttl = forever
	for {
		alias := cnameOf(records, name)
		if alias == nil {
			return name, a, nil
		}
		if a.hops++; a.hops > maxHops {
			return "", a, &Error{Kind: Failure, Reason: Loop}
		}
		a.ttl = min(a.ttl, ttlOf(alias))
		name = strings.ToLower(alias.Target)
	}
}

func cnameOf(records []dns.RR, name string) *dns.CNAME {
	for _, rr := range records {
		if c, ok := rr.(*dns.CNAME); ok && isOwner(rr, name) {
			return c
		}
	}
	return nil
}

// recordsOf returns the records of name that have a type, and the least of their TTLs.
func recordsOf(records []dns.RR, name string, qtype uint16) (own []dns.RR, ttl time.Duration) {
	ttl = forever
	for _, rr := range records {
		if rr.Header().Rrtype == qtype && isOwner(rr, name) {
			own, ttl = append(own, rr), min(ttl, ttlOf(rr))
		}
	}
	return own, ttl
}

// exchangesOf returns the exchanges that MX records name. Null MX names none.
func exchangesOf(records []dns.RR) (list []preferred) {
	for _, rr := range records {
		if r, ok := rr.(*dns.MX); ok && isExchange(r.Mx) {
			list = append(list, preferred{r.Preference, strings.ToLower(strings.TrimSuffix(r.Mx, "."))})
		}
	}
	return list
}

// preferred is an exchange and its preference.
type preferred struct {
	preference uint16
	name       string
}

// joinExchanges returns Result.Exchanges. A name that the list has several times counts
// with its lowest preference.
func joinExchanges(list []preferred) string {
	slices.SortFunc(list, func(a, b preferred) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.preference, b.preference))
	})
	list = slices.CompactFunc(list, func(a, b preferred) bool { return a.name == b.name })
	slices.SortStableFunc(list, func(a, b preferred) int { return cmp.Compare(a.preference, b.preference) })
	var joined strings.Builder
	for i, e := range list {
		if i > 0 {
			joined.WriteByte(' ')
		}
		if joined.WriteString(e.name); joined.Len() > maxExchanges {
			return cutExchanges(joined.String())
		}
	}
	return joined.String()
}

// maxExchanges is how many bytes Result.Exchanges has at most: more than the exchanges of
// nearly every domain have, and with the number of cached domains a bound for all.
const maxExchanges = 1024

// cutExchanges shortens names to maxExchanges at the end of a name.
func cutExchanges(names string) string {
	const rest = " *"
	return names[:strings.LastIndexByte(names[:maxExchanges-len(rest)+1], ' ')] + rest
}

func isOwner(rr dns.RR, name string) bool {
	h := rr.Header()
	return h.Class == dns.ClassINET && strings.EqualFold(h.Name, name)
}

const forever = time.Duration(1<<63 - 1)

// ttlOf returns the TTL of rr, 0 if its top bit is set (RFC 2181 section 8).
func ttlOf(rr dns.RR) time.Duration { return seconds(rr.Header().Ttl) }

func seconds(n uint32) time.Duration {
	if int32(n) < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// decideNegative evaluates a reply without the records for end, the last name of
// the CNAME chain.
//
// NXDOMAIN is indicated by the RCODE, and NODATA by the SOA record of a zone that
// contains the name (RFC 2308 section 2). If the reply ends at a CNAME into
// another zone, its target has to be queried. A referral, with NS records in
// place of the SOA, is an error. An empty reply is accepted if the server
// recurses or is authoritative.
func decideNegative(msg *dns.Msg, end string, a result) (result, *Error) {
	soa, referral := authority(msg.Ns, end)
	a.noData = msg.Rcode == dns.RcodeSuccess
	switch {
	case soa != nil:
		a.ttl = min(a.ttl, ttlOf(soa), seconds(soa.Minttl))
		return a, nil
	case msg.Rcode == dns.RcodeNameError:
	case a.hops > 0:
		a.target = end
		return a, nil
	case referral || !msg.Authoritative && !msg.RecursionAvailable:
		return result{}, &Error{Kind: Failure, Reason: Lame}
	}
	a.ttl = 0 // RFC 2308 section 5: do not cache without an SOA
	return a, nil
}

// authority returns, from the authority section, the SOA of a zone that contains
// name, and whether there are NS records.
func authority(records []dns.RR, name string) (soa *dns.SOA, servers bool) {
	for _, rr := range records {
		switch r := rr.(type) {
		case *dns.SOA:
			if dns.IsSubDomain(r.Hdr.Name, name) {
				soa = r
			}
		case *dns.NS:
			servers = true
		}
	}
	return soa, servers
}

const (
	maxName  = 253 // bytes of a name in text, RFC 1035 section 2.3.4 less two
	maxLabel = 63
)

// canonical returns domain as it is queried and cached: in lower case, without
// a final dot. It returns "" for a name that cannot have MX records: one that is
// too long, has an empty label, or a character that isNameByte rejects. It
// returns an error for a U-label.
func canonical(domain string) (string, error) {
	domain = strings.TrimSuffix(domain, ".")
	if len(domain) > maxName {
		return "", nil
	}
	upper, label := false, 0
	for i := range len(domain) {
		switch b := domain[i]; {
		case b == '.' && label > 0:
			label = -1
		case b >= 0x80:
			return "", &Error{Kind: Failure, Reason: NotALabel}
		case !isNameByte(b):
			return "", nil
		case 'A' <= b && b <= 'Z':
			upper = true
		}
		if label++; label > maxLabel {
			return "", nil
		}
	}
	if label == 0 {
		return "", nil
	}
	if upper {
		domain = strings.ToLower(domain)
	}
	return domain, nil
}

// isNameByte reports whether b is a letter, a digit, a hyphen or an underscore.
// Host names have no underscore, but other DNS names do (RFC 8552).
func isNameByte(b byte) bool { return isLDH(b) || b == '_' }

func isLDH(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || isDigit(b) || b == '-'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isExchange reports whether a name can be that of a host that takes mail from the
// Internet: a host name, but not one that can only be this machine (RFC 6761 section
// 6.3), does not exist (6.4), or is not in the public DNS (RFC 6762 section 3, RFC 7686).
// Names below .test and .example count as exchanges, so that test zones work.
func isExchange(name string) bool {
	name = strings.TrimSuffix(name, ".")
	top := name[strings.LastIndexByte(name, '.')+1:]
	return isHostName(name) && !slices.ContainsFunc(noExchanges, func(special string) bool { return strings.EqualFold(top, special) })
}

var noExchanges = []string{"localhost", "invalid", "local", "onion"}

// isHostName reports whether exchange, a name in presentation format, is a host
// name: labels of letters, digits and inner hyphens, the last not all digits, so
// that an IPv4 address is not a host name (RFC 1123 section 2.1). The root is
// not a host name; as an exchange it is null MX (RFC 7505). Whether the host
// exists is not checked.
func isHostName(exchange string) bool {
	rest := strings.TrimSuffix(exchange, ".")
	if rest == "" || len(rest) > maxName {
		return false
	}
	for {
		label, after, more := strings.Cut(rest, ".")
		if !isHostLabel(label) {
			return false
		}
		if !more {
			return !isNumber(label)
		}
		rest = after
	}
}

func isHostLabel(label string) bool {
	n := len(label)
	if n == 0 || n > maxLabel || label[0] == '-' || label[n-1] == '-' {
		return false
	}
	for i := range n {
		if !isLDH(label[i]) {
			return false
		}
	}
	return true
}

func isNumber(label string) bool {
	for i := range len(label) {
		if !isDigit(label[i]) {
			return false
		}
	}
	return true
}
