package mx

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// message returns a reply of a recursive resolver with the records of the answer
// and authority sections.
func message(rcode int, answer, authority []string) *dns.Msg {
	m := new(dns.Msg).SetQuestion("example.test.", dns.TypeMX)
	m.Response, m.RecursionAvailable, m.Rcode = true, true, rcode
	for _, text := range answer {
		m.Answer = append(m.Answer, record(text))
	}
	for _, text := range authority {
		m.Ns = append(m.Ns, record(text))
	}
	return m
}

// decideMX is decide for the question of message.
func decideMX(msg *dns.Msg) (result, *Error) { return decide(msg, "example.test.", dns.TypeMX) }

const (
	yes = "mx"
	no  = "no mx"

	soa   = "test. 300 IN SOA ns.test. hm.test. 1 2 3 4 60"
	alias = "example.test. 40 IN CNAME other.test."
	one   = "example.test. 9 IN MX 10 a.test."
	below = "test. 9 IN NS ns.test." // of a referral
	other = "else. 9 IN SOA ns.test. hm.test. 1 2 3 4 60"
)

type list = []string

// decisions are results of decide, one for each of its branches.
var decisions = []struct {
	why               string
	rcode             int
	answer, authority list
	want              string // yes, no, or the name to query next
	ttl               time.Duration
}{
	{"MX", 0, list{one}, nil, yes, 9 * time.Second},
	{"MX of several TTLs", 0, list{one, "example.test. 8 IN MX 20 b.test."}, nil, yes, 8 * time.Second},
	{"top bit set (RFC 2181 section 8)", 0, list{"example.test. 4294967295 IN MX 10 a.test."}, nil, yes, 0},
	{"owner in another case", 0, list{"EXAMPLE.Test. 9 IN MX 10 a.test."}, nil, yes, 9 * time.Second},
	{"MX with name servers beside", 0, list{one}, list{below}, yes, 9 * time.Second},
	{"CNAME after its MX", 0, list{"other.test. 9 IN MX 10 a.test.", alias}, nil, yes, 9 * time.Second},
	{"CNAME shorter than its MX", 0, list{alias, "other.test. 90 IN MX 10 a.test."}, nil, yes, 40 * time.Second},
	{"null MX", 0, list{"example.test. 9 IN MX 0 ."}, nil, no, 9 * time.Second},
	{"MX of another name", 0, list{"else.test. 9 IN MX 10 a.test."}, list{soa}, no, 60 * time.Second},
	{"MX in another class", 0, list{"example.test. 9 CH MX 10 a.test."}, list{soa}, no, 60 * time.Second},
	{"no data", 0, nil, list{soa}, no, 60 * time.Second},
	{"no data, SOA's own TTL", 0, nil, list{"test. 45 IN SOA ns.test. hm.test. 1 2 3 4 60"}, no, 45 * time.Second},
	{"no data, no SOA", 0, nil, nil, no, 0},
	{"no data, SOA and NS (RFC 2308 section 2.2 type 1)", 0, nil, list{soa, below}, no, 60 * time.Second},
	{"name error", 3, nil, list{soa}, no, 60 * time.Second},
	{"name error with name servers (RFC 2308 section 2.1 type 4)", 3, nil, list{below}, no, 0},
	{"name error at the target (RFC 6604)", 3, list{alias}, list{soa}, no, 40 * time.Second},
	{"name error at the target, no SOA", 3, list{alias}, nil, no, 0},
	{"no data at the target", 0, list{alias}, list{soa}, no, 40 * time.Second},
	{"CNAME and nothing more", 0, list{alias}, nil, "other.test.", 40 * time.Second},
	{"CNAME into a delegated zone", 0, list{alias}, list{"other.test. 9 IN NS ns.test."}, "other.test.", 40 * time.Second},
	{"CNAME out of the SOA's zone", 0, list{alias}, list{"example.test. 9 IN SOA a. b. 1 2 3 4 5"}, "other.test.",
		40 * time.Second},
}

func TestDecide(t *testing.T) {
	for _, test := range decisions {
		a, err := decideMX(message(test.rcode, test.answer, test.authority))
		require.Nil(t, err, test.why)
		got := a.target
		if got == "" {
			got = map[bool]string{true: yes, false: no}[a.found]
		}
		require.Equal(t, test.want, got, test.why)
		require.Equal(t, test.ttl, a.ttl, test.why)
	}
}

func TestDecideErrors(t *testing.T) {
	notRecursive := message(0, nil, nil)
	notRecursive.RecursionAvailable = false
	noData := message(0, list{one}, nil)
	noData.Answer[0].(*dns.MX).Mx = "" // as a record without data decodes
	for why, test := range map[string]struct {
		msg    *dns.Msg
		reason Reason
	}{
		"SERVFAIL":                {message(dns.RcodeServerFailure, nil, nil), Rcode},
		"SERVFAIL with an MX":     {message(dns.RcodeServerFailure, list{one}, nil), Rcode},
		"an rcode without a name": {message(15, nil, nil), Rcode},
		"NXDOMAIN with an MX":     {message(dns.RcodeNameError, list{one}, nil), Malformed},
		"an MX without data":      {noData, Malformed},
		"a referral":              {message(0, nil, list{below}), Lame},
		"an SOA of another zone":  {message(0, nil, list{other, below}), Lame},
		"empty, not recursive":    {notRecursive, Lame},
		"a CNAME to itself":       {message(0, []string{"example.test. 9 IN CNAME example.test."}, nil), Loop},
		"CNAMEs in a circle":      {message(0, list{alias, "other.test. 9 IN CNAME example.test."}, nil), Loop},
	} {
		_, err := decideMX(test.msg)
		require.NotNil(t, err, why)
		require.Equal(t, Failure, err.Kind, why)
		require.Equal(t, test.reason, err.Reason, why)
	}
}

// An exchange is a name of labels of letters, digits, hyphens and underscores of which the last
// is no number. Names of this machine, of no host, and of no public zone take no mail; those of
// test zones do.
func TestExchangeName(t *testing.T) {
	for name, is := range map[string]bool{
		"mail.example.test.": true, "a.": true, "xn--bcher-kva.test.": true, "3com.test.": true,
		"1.2.3.4.example.": true, "MAIL.EXAMPLE.": true, "a--b.test.": true,
		"_dc-mx.0a1b2c3d4e5f.example.test.": true, "_mail.test.": true, "ma_il.test.": true, "a_.test.": true,
		"-a.test.": true, "a-.test.": true, "localhost.example.": true, "mail.localhost.localdomain.": true,
		".": false, "": false, "192.0.2.1.": false, "0.": false, "a.1.": false,
		`a\.b.test.`: false, `a\000.test.`: false, "*.test.": false,
		"a..test.": false, "[192.0.2.1].": false, "bücher.test.": false, "a b.test.": false,
		"localhost.": false, "LocalHost.": false, "mail.localhost.": false, "mail.invalid": false,
		"invalid.": false, "mail.invalid.": false, "a.b.INVALID.": false, "mail.local.": false, "mail.onion.": false,
		"mail.test.": true, "mail.example.": true, "mylocal.": true, "mail.local.example.": true,
	} {
		want := ""
		if is {
			want = strings.ToLower(strings.TrimSuffix(name, "."))
		}
		require.Equal(t, want, exchangeName(name), name)
	}
}

// names are names and their canonical form, which is empty if they cannot have MX records.
var names = map[string]string{
	"Example.TEST.": "example.test", "_a-b.3com": "_a-b.3com", longName: longName, longName + ".": longName,
	longName + "b": "", strings.Repeat("a", maxLabel+1) + ".test": "", "": "", ".": "", "a..test": "", ".example.test": "",
	"example.test..": "", "[192.0.2.1]": "", "[IPv6:2001:db8::1]": "", `a\.test`: "", "a b.test": "", "a\x00.test": "",
}

// longName is as long as a name can be.
var longName = strings.Repeat(strings.Repeat("a", maxLabel)+".", 3) + strings.Repeat("b", maxName-3*(maxLabel+1))

func TestCanonicalName(t *testing.T) {
	for name, want := range names {
		got, err := canonicalName(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := canonicalName("bücher.test")
	requireError(t, err, Failure, NotALabel)
}

// A message cut at any byte does not decode. Above all it is not taken for a reply without
// records.
func TestParseReplyCutMessage(t *testing.T) {
	for _, m := range seeds() {
		query := new(dns.Msg).SetQuestion("example.test.", dns.TypeMX)
		query.Id = m.Id
		wire, err := m.Pack()
		require.NoError(t, err)
		for n := range wire {
			reply, _ := parseReply(wire[:n], header(wire[:n]), query)
			require.Nil(t, reply, "%d of %d bytes of %v", n, len(wire), m)
		}
		reply, err := parseReply(wire, header(wire), query)
		require.NoError(t, err)
		require.NotNil(t, reply)
	}
}

// header returns the header of a datagram as dns.Conn reads it: the zero value if it is cut.
func header(wire []byte) (h dns.Header) {
	if len(wire) >= 12 {
		_ = binary.Read(bytes.NewReader(wire), binary.BigEndian, &h)
	}
	return h
}
