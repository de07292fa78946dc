package mx

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// seeds returns replies to a query for the MX of example.test, those of TestDecide and others.
func seeds() []*dns.Msg {
	authoritative := message(3, nil, nil)
	authoritative.Authoritative, authoritative.RecursionAvailable = true, false
	all := []*dns.Msg{authoritative, longest(),
		message(0, list{one}, nil).SetEdns0(udpPayload, false),
		message(0, list{`example.test. 9 IN MX 10 a\.b\000.test.`, "example.test. 9 IN MX 10 _a.test."}, nil),
		message(0, list{one, "example.test. 9 IN MX 2 B.test.", "example.test. 9 IN MX 1 b.TEST."}, nil),
		message(0, list{"example.test. 9 IN MX 1 localhost.", "example.test. 9 IN MX 3 192.0.2.1."}, nil),
		message(0, list{"example.test. 9 IN A 192.0.2.1", "example.test. 9 IN AAAA 2001:db8::1"}, nil),
		message(0, list{alias, "other.test. 9 IN CNAME example.test."}, nil),
		message(0, nil, list{below}),
		message(2, nil, nil),
	}
	for _, d := range decisions {
		all = append(all, message(d.rcode, d.answer, d.authority))
	}
	return all
}

// longest returns a reply with nine exchanges of 240 bytes.
func longest() *dns.Msg {
	var records []string
	for i := range 9 {
		labels := strings.Repeat(".abcdefghijklmnopqrstuvwxyz", 9)[:234]
		records = append(records, fmt.Sprintf("example.test. 9 IN MX %d %d%s.test.", i/2, i, labels))
	}
	return message(0, records, nil)
}

var hostName = regexp.MustCompile(`^(?i:([a-z0-9_-]+\.)*([a-z0-9_-]*[a-z_-][a-z0-9_-]*)\.)$`)

var noHost = regexp.MustCompile(`(^|\.)(localhost|invalid|local|onion)$`)

// FuzzDecide checks that a reply proves every result: with an MX record whose
// exchange can be one, or with an address, if true, with a negative reply if false.
// Exchanges are well formed whatever the reply has.
func FuzzDecide(f *testing.F) {
	for _, m := range seeds() {
		wire, err := m.Pack()
		require.NoError(f, err)
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		msg := new(dns.Msg)
		if msg.Unpack(wire) != nil {
			return
		}
		for _, qtype := range []uint16{dns.TypeMX, dns.TypeA, dns.TypeAAAA} {
			requireProof(t, msg, qtype)
		}
	})
}

func requireProof(t *testing.T, msg *dns.Msg, qtype uint16) {
	a, failure := decide(msg, "example.test.", qtype)
	requireWellFormed(t, a.exchanges)
	require.Equal(t, a.found && qtype == dns.TypeMX, a.exchanges != "")
	require.False(t, a.found && a.noData)
	switch {
	case failure != nil:
		require.Equal(t, Failure, failure.Kind)
		require.NotContains(t, failure.Error(), "example.test")
		require.Zero(t, a)
		return
	case a.target != "":
		require.Positive(t, a.hops)
		require.False(t, a.found)
	case a.found:
		require.True(t, publishes(msg, "", qtype))
	default:
		require.Contains(t, []int{dns.RcodeSuccess, dns.RcodeNameError}, msg.Rcode)
		require.True(t, msg.Rcode == dns.RcodeNameError || len(msg.Answer)+len(msg.Ns) > 0 ||
			msg.Authoritative || msg.RecursionAvailable, "an empty reply of a server that neither recurses nor is authoritative")
		require.True(t, a.hops > 0 || !publishes(msg, "example.test.", qtype))
	}
	require.GreaterOrEqual(t, a.ttl, time.Duration(0))
	require.LessOrEqual(t, a.hops, maxHops)
}

// requireWellFormed requires exchanges to be bounded names in lower case, each once. The last may be "*" in place of
// others. TestExchanges has their order.
func requireWellFormed(t *testing.T, exchanges string) {
	require.LessOrEqual(t, len(exchanges), maxExchanges)
	if exchanges == "" {
		return
	}
	names := strings.Split(exchanges, " ")
	if last := len(names) - 1; last > 0 && names[last] == "*" {
		names = names[:last]
	}
	seen := map[string]bool{}
	for _, name := range names {
		require.Regexp(t, hostName, name+".")
		require.NotRegexp(t, noHost, name)
		require.Equal(t, strings.ToLower(name), name)
		require.False(t, seen[name], "%q is there twice", name)
		seen[name] = true
	}
}

// publishes is a second implementation of "has an address record, or an MX record whose
// exchange can be one", for the owner or, if it is empty, for any.
func publishes(msg *dns.Msg, owner string, qtype uint16) bool {
	for _, rr := range msg.Answer {
		h := rr.Header()
		m, ok := rr.(*dns.MX)
		isHost := !ok || hostName.MatchString(m.Mx) && !noHost.MatchString(strings.TrimSuffix(dns.CanonicalName(m.Mx), "."))
		if h.Rrtype == qtype && isHost && (owner == "" || h.Class == dns.ClassINET && dns.CanonicalName(h.Name) == owner) {
			return true
		}
	}
	return false
}

// FuzzParseReply passes bytes as a datagram that arrives while a reply is
// awaited.
func FuzzParseReply(f *testing.F) {
	query := new(dns.Msg).SetQuestion("example.test.", dns.TypeMX)
	query.Id = 0x4d58
	for _, m := range seeds() {
		m.Id = query.Id
		wire, err := m.Pack()
		require.NoError(f, err)
		f.Add(wire)      // a reply
		f.Add(wire[:12]) // its header alone
		f.Add(wire[1:])  // shifted
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := header(wire)
		if len(wire) < 12 {
			wire = nil // as dns.Conn returns it
		}
		reply, err := parseReply(wire, h, query)
		if reply == nil {
			return
		}
		require.NoError(t, err)
		require.Equal(t, query.Id, binary.BigEndian.Uint16(wire))
		if !reply.Truncated {
			require.True(t, isReply(reply, query))
		}
	})
}

// FuzzCanonical passes strings that a caller may pass as a domain.
func FuzzCanonical(f *testing.F) {
	for domain := range names {
		f.Add(domain)
	}
	f.Add("bücher.test")
	f.Fuzz(func(t *testing.T, domain string) {
		name, err := canonicalName(domain)
		if name == "" {
			return
		}
		require.NoError(t, err)
		again, err := canonicalName(name)
		require.NoError(t, err)
		require.Equal(t, name, again)
		require.True(t, strings.EqualFold(name, strings.TrimSuffix(domain, ".")))
		_, err = new(dns.Msg).SetQuestion(name+".", dns.TypeMX).Pack()
		require.NoError(t, err, "it can be queried")
	})
}
