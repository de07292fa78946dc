package mx

import (
	"strings"
	"time"

	"github.com/miekg/dns"
)

// answer is what one reply states about a name.
type answer struct {
	mx     bool
	ttl    time.Duration // least of the records used, unclamped
	target string        // if set, the reply ends at a CNAME to this name, which has to be queried
	hops   int           // CNAMEs followed
}

// decide evaluates msg, the reply to a query for the MX records of name (in
// lower case, with its final dot). It returns an error if msg does not prove an
// answer.
func decide(msg *dns.Msg, name string) (answer, *Error) {
	if msg.Rcode != dns.RcodeSuccess && msg.Rcode != dns.RcodeNameError {
		return answer{}, &Error{Kind: Failure, Reason: Rcode, Rcode: msg.Rcode, Detail: extendedError(msg)}
	}
	end, a, err := followCNAMEs(msg.Answer, name)
	if err != nil {
		return answer{}, err
	}
	if mx, ttl, found := decideMX(msg.Answer, end); found {
		a.mx, a.ttl = mx, min(a.ttl, ttl)
		return a, nil
	}
	return decideNegative(msg, end, a)
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
func followCNAMEs(records []dns.RR, name string) (end string, a answer, err *Error) {
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

// decideMX evaluates the MX records of name. mx is true if the exchange of at
// least one is a host name; null MX has none. found is false without MX records.
func decideMX(records []dns.RR, name string) (mx bool, ttl time.Duration, found bool) {
	ttl = forever
	for _, rr := range records {
		if r, ok := rr.(*dns.MX); ok && isOwner(rr, name) {
			found, ttl = true, min(ttl, ttlOf(rr))
			mx = mx || isHostName(r.Mx)
		}
	}
	return mx, ttl, found
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
