package mx

import "github.com/miekg/dns"

// decideNegative evaluates a reply without MX records for end, the last name of
// the CNAME chain.
//
// NXDOMAIN is indicated by the RCODE, and NODATA by the SOA record of a zone that
// contains the name (RFC 2308 section 2). If the reply ends at a CNAME into
// another zone, its target has to be queried. A referral, with NS records in
// place of the SOA, is an error. An empty reply is accepted if the server
// recurses or is authoritative.
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
