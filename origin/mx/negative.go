package mx

import "github.com/miekg/dns"

// deny judges an answer without MX records for end, the last name of a chain.
//
// A name error is known by its code, and no data by the SOA record of a zone
// that holds the name (RFC 2308 section 2). Where CNAMEs lead to another zone,
// the target has to be asked for itself. What is left is a referral, with name
// servers in the SOA's place; and an empty answer, which counts from a
// server that recurses or is the name's authority.
func decideNegative(msg *dns.Msg, end string, a answer) (answer, *Error) {
	soa, referral := authority(msg.Ns, end)
	switch {
	case soa != nil:
		a.ttl = min(a.ttl, ttlOf(soa), seconds(soa.Minttl))
		return a, nil
	case msg.Rcode == dns.RcodeNameError:
	case a.hops > 0:
		a.target = end
		return a, nil
	case referral || !msg.Authoritative && !msg.RecursionAvailable:
		return answer{}, &Error{Kind: Failure, Reason: Lame}
	}
	a.ttl = 0 // RFC 2308 section 5: not to be kept without an SOA
	return a, nil
}

// authority finds in the authority section the SOA of a zone that holds name,
// and whether name servers are there.
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
