package mx

import (
	"crypto/rand"
	"encoding/binary"
	"strings"

	"github.com/miekg/dns"
)

// question is what one query asks a server, and the id that the reply repeats.
type question struct {
	id    uint16
	name  string // with its final dot
	qtype uint16
	edns  bool // the query has an OPT record
}

// newQuestion returns a question with a random id. The source port is the other
// half of what a forger has to guess (RFC 5452 section 9.2); the kernel chooses it
// for each query.
func newQuestion(name string, qtype uint16) question {
	var id [2]byte
	_, _ = rand.Read(id[:]) // never fails; a system without random numbers ends the process
	return question{id: binary.BigEndian.Uint16(id[:]), name: name, qtype: qtype, edns: true}
}

const (
	flagRD    = 0x01              // in the third byte: recursion desired
	maxQuery  = 12 + 255 + 4 + 11 // bytes: header, longest name, type and class, OPT record
	typeClass = 4                 // bytes of type and class
)

// optRecord is an OPT record without options (RFC 6891 section 6.1.2): the root, the
// type, udpPayload in place of the class, extended flags, and no data.
var optRecord = [...]byte{0, 0, byte(dns.TypeOPT), udpPayload >> 8, udpPayload & 0xff, 0, 0, 0, 0, 0, 0}

// pack writes the query into buffer, which has at least maxQuery bytes, and returns
// it. It is written by hand because a query has one shape: a [dns.Msg] takes seven
// allocations to build and pack.
func (q *question) pack(buffer []byte) ([]byte, error) {
	clear(buffer[:headerSize])
	binary.BigEndian.PutUint16(buffer, q.id)
	buffer[2] = flagRD
	buffer[5] = 1 // QDCOUNT
	n, err := dns.PackDomainName(q.name, buffer[:maxQuery], headerSize, nil, false)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(buffer[n:], q.qtype)
	binary.BigEndian.PutUint16(buffer[n+2:], dns.ClassINET)
	if n += typeClass; q.edns {
		buffer[11] = 1 // ARCOUNT
		n += copy(buffer[n:], optRecord[:])
	}
	return buffer[:n], nil
}

// isAnsweredBy reports whether reply answers q: it has the same id and, ignoring
// case, the same question. An error reply may omit the question.
func (q *question) isAnsweredBy(reply *dns.Msg) bool {
	if reply.Id != q.id || !reply.Response || reply.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(reply.Question) == 0 {
		return reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	}
	got := reply.Question[0]
	return len(reply.Question) == 1 && got.Qtype == q.qtype && got.Qclass == dns.ClassINET &&
		strings.EqualFold(got.Name, q.name)
}
