package mx

import (
	"encoding/binary"
	"errors"

	"github.com/miekg/dns"
)

const (
	headerSize = 12   // bytes, RFC 1035 section 4.1.1
	flagQR     = 0x80 // in the third byte: a response
	flagTC     = 0x02 // there too: truncated
)

var (
	errMalformed = errors.New("the reply does not decode")
	errNotDNS    = errors.New("a datagram is not a DNS message")
)

// truncated replaces a truncated reply, whose records must be ignored (RFC 2181
// section 9) and may not decode.
var truncated = &dns.Msg{MsgHdr: dns.MsgHdr{Truncated: true}}

// parseReply returns the reply to q, or nil if wire answers another query.
// It returns errMalformed if the reply does not decode, and errNotDNS if wire is
// not a DNS message.
func parseReply(wire []byte, q *question) (*dns.Msg, error) {
	matches := len(wire) >= headerSize && binary.BigEndian.Uint16(wire) == q.id && wire[2]&flagQR != 0
	if matches && wire[2]&flagTC != 0 {
		return truncated, nil
	}
	reply, err := unpack(wire)
	switch {
	case err == nil && q.isAnsweredBy(reply):
		return reply, nil
	case err == nil:
		return nil, nil
	case matches:
		return nil, errMalformed
	}
	return nil, errNotDNS
}

// unpack decodes wire. Unlike [dns.Msg.Unpack] it returns an error if the message
// ends before the records that its header counts: a cut reply would otherwise
// read as "no MX".
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
