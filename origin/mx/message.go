package mx

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/miekg/dns"
)

const (
	headerSize = 12   // bytes, RFC 1035 section 4.1.1
	flagQR     = 0x80 // in the third byte: a response
	flagTC     = 0x02 // there too: truncated
)

var (
	errMalformed = errors.New("the reply does not decode")
	errNotDNS    = errors.New("something came that is no DNS message")
)

// truncated is all there is to know of a truncated reply: its last record may
// be cut, and RFC 2181 section 9 has the rest ignored.
var truncated = &dns.Msg{MsgHdr: dns.MsgHdr{Truncated: true}}

// read returns the reply to query, nil if wire answers another query, and
// errGarbage if it is not DNS. A reply that does not decode is errMalformed.
func parseReply(wire []byte, query *dns.Msg) (*dns.Msg, error) {
	mine := len(wire) >= headerSize && binary.BigEndian.Uint16(wire) == query.Id && wire[2]&flagQR != 0
	if mine && wire[2]&flagTC != 0 {
		return truncated, nil
	}
	reply, err := unpack(wire)
	switch {
	case err == nil && isReply(reply, query):
		return reply, nil
	case err == nil:
		return nil, nil
	case mine:
		return nil, errMalformed
	}
	return nil, errNotDNS
}

// unpack decodes wire. The library takes a message that ends before its
// counted records for one without them, which would make "no MX" of a cut
// answer; here it does not decode.
func unpack(wire []byte) (*dns.Msg, error) {
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		return nil, err
	}
	for i, n := range [...]int{len(m.Question), len(m.Answer), len(m.Ns), len(m.Extra)} {
		if int(binary.BigEndian.Uint16(wire[4+2*i:])) != n {
			return nil, errMalformed
		}
	}
	return m, nil
}

// answers reports whether reply is one to query: its id, and its question but
// for the case of letters. An error may come without the question.
func isReply(reply, query *dns.Msg) bool {
	if reply.Id != query.Id || !reply.Response || reply.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(reply.Question) == 0 {
		return reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	}
	got, want := reply.Question[0], query.Question[0]
	return len(reply.Question) == 1 && got.Qtype == want.Qtype && got.Qclass == want.Qclass &&
		strings.EqualFold(got.Name, want.Name)
}
