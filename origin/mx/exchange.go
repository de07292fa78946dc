package mx

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// udpPayload is the largest UDP reply requested, in bytes. It fits every path
// without fragmentation (DNS flag day 2020).
const udpPayload = 1232

// exchange sends one question to one server and returns its reply: over UDP,
// again without EDNS0 if the server rejects it (RFC 6891 section 7), and over
// TCP if the reply is truncated (RFC 7766 section 5). If sent is not nil, it is the
// first query, and closed here.
func (r *Resolver) exchange(ctx context.Context, s *server, name string, qtype uint16, sent *udpQuery) (*dns.Msg, *Error) {
	if sent == nil {
		sent = r.sendUDP(s, newQuestion(name, qtype))
	}
	q := sent.question
	reply, err := r.exchangeUDP(ctx, sent)
	if err == nil && rejectsEDNS(reply) {
		q = newQuestion(name, qtype)
		q.edns = false
		reply, err = r.exchangeUDP(ctx, r.sendUDP(s, q))
	}
	if err == nil && reply.Truncated {
		reply, err = r.exchangeTCP(ctx, s, &q)
	}
	if err != nil {
		return nil, classify(ctx, err).withServer(s)
	}
	return reply, nil
}

// exchangeUDP waits for the reply to a query that was sent, and closes it.
func (r *Resolver) exchangeUDP(ctx context.Context, u *udpQuery) (*dns.Msg, error) {
	defer u.close()
	return r.replyTo(ctx, u)
}

func rejectsEDNS(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented
}

// classify returns the error of a failed exchange. Of the system's error it
// keeps only the errno.
func classify(ctx context.Context, err error) *Error {
	if err == errMalformed || err == errNotDNS {
		return &Error{Kind: Failure, Reason: Malformed}
	}
	var timeout net.Error
	if ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return &Error{Kind: Timeout, Reason: NoReply}
	}
	e := &Error{Kind: Failure, Reason: Unreachable}
	var cause syscall.Errno
	if errors.As(err, &cause) {
		e.Cause = cause
	}
	return e
}

const (
	udpBuffer  = 4096 // bytes, for servers that send more than udpPayload
	maxIgnored = 16   // datagrams ignored before the query is repeated over TCP
)

// udpQuery is a query that was sent to one server from a socket that no other query uses
// meanwhile: a random port, connected, so that the kernel drops datagrams from other hosts.
// Its fields are those of one goroutine at a time.
type udpQuery struct {
	question
	server *server
	sent   time.Time
	conn   socket // nil if it could not be opened

	ignored int  // datagrams that were no reply
	notDNS  bool // one of them was not DNS
	cut     bool // the wait ended with its context, which may still set the deadline

	finished bool     // reply and err are set
	reply    *dns.Msg // truncated if ignored has reached its limit
	err      error

	buffer [udpBuffer]byte // of the query, then of each datagram
}

// udpQueries has queries that nothing uses. A decoded message keeps no part of their
// buffers.
var udpQueries = sync.Pool{New: func() any { return new(udpQuery) }}

// sendUDP sends a question over UDP. If that fails, the query is finished.
func (r *Resolver) sendUDP(s *server, q question) *udpQuery {
	u := udpQueries.Get().(*udpQuery)
	u.question, u.server, u.sent = q, s, time.Now()
	if err := u.send(); err != nil {
		u.finish(nil, err)
		return u
	}
	r.counters.udp.Add(1)
	return u
}

func (u *udpQuery) send() error {
	wire, err := u.pack(u.buffer[:])
	if err != nil {
		return err
	}
	if u.conn, err = u.server.dial(); err != nil {
		return err
	}
	_, err = u.conn.Write(wire)
	return err
}

func (u *udpQuery) finish(reply *dns.Msg, err error) {
	u.finished, u.reply, u.err = true, reply, err
}

// close releases the socket, which another query may use if nothing but the reply has
// come. Then u must not be used.
func (u *udpQuery) close() {
	if u.conn != nil {
		u.server.release(u.conn, u.finished && u.err == nil && u.ignored == 0 && !u.cut)
	}
	u.conn, u.server, u.name, u.reply, u.err = nil, nil, "", nil, nil
	u.ignored, u.notDNS, u.cut, u.finished = 0, false, false, false
	udpQueries.Put(u)
}

// replyTo waits for the reply until ctx ends.
func (r *Resolver) replyTo(ctx context.Context, u *udpQuery) (*dns.Msg, error) {
	if !u.finished {
		forget := watch(ctx, u.conn)
		r.receive(u)
		u.cut = !forget()
	}
	if u.err != nil && u.notDNS {
		return nil, errNotDNS
	}
	return u.reply, u.err
}

// receive waits for the reply until the socket's deadline. Other datagrams are forged
// or late and are ignored. Many of them mean that an attacker guesses ids, so the
// reply is then requested over TCP as if truncated.
func (r *Resolver) receive(u *udpQuery) {
	for u.ignored < maxIgnored {
		n, err := u.conn.Read(u.buffer[:])
		if err != nil {
			u.finish(nil, err)
			return
		}
		reply, err := parseReply(u.buffer[:n], &u.question)
		if reply != nil || err == errMalformed {
			u.finish(reply, err)
			return
		}
		u.notDNS = u.notDNS || err != nil
		u.ignored++
		r.counters.ignored.Add(1)
	}
	u.finish(truncated, nil)
}

// socket is a connected UDP socket.
type socket interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

// dialNet opens a socket to the server, where dial does not do it itself. Nothing waits
// here, since a UDP socket sends nothing to connect. A Dialer would work on the address
// for each query.
func (s *server) dialNet() (socket, error) {
	conn, err := net.DialUDP("udp", nil, s.udp)
	if err != nil {
		return nil, err // not conn, which would be a socket that is not nil
	}
	return conn, nil
}

// exchangeTCP repeats the query over TCP, which neither truncates the reply nor
// lets another host send it.
func (r *Resolver) exchangeTCP(ctx context.Context, s *server, q *question) (*dns.Msg, error) {
	r.counters.tcp.Add(1)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer watch(ctx, conn)()
	if err = writeFrame(conn, q); err != nil {
		return nil, err
	}
	wire, err := readFrame(conn)
	if err != nil {
		return nil, err
	}
	reply, err := unpack(wire)
	if err != nil || reply.Truncated || !q.isRepliedBy(reply) {
		return nil, errMalformed
	}
	return reply, nil
}

// writeFrame writes the query with its length prefix (RFC 1035 section 4.2.2).
func writeFrame(conn net.Conn, q *question) error {
	var buffer [2 + maxQuery]byte
	wire, err := q.pack(buffer[2:])
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(buffer[:], uint16(len(wire)))
	_, err = conn.Write(buffer[:2+len(wire)])
	return err
}

// readFrame reads one message with its length prefix.
func readFrame(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	wire := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, wire)
	return wire, err
}

// watch makes reads and writes of conn fail once ctx ends, until the function that it
// returns is called.
func watch(ctx context.Context, conn interface{ SetDeadline(time.Time) error }) (forget func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })
}

var past = time.Unix(1, 0)

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

// isRepliedBy reports whether reply is one to q: it has the same id and, ignoring
// case, the same question. An error reply may omit the question.
func (q *question) isRepliedBy(reply *dns.Msg) bool {
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

// parseReply returns the reply to q, or nil if wire is one to another query.
// It returns errMalformed if the reply does not decode, and errNotDNS if wire is
// not a DNS message.
func parseReply(wire []byte, q *question) (*dns.Msg, error) {
	matches := len(wire) >= headerSize && binary.BigEndian.Uint16(wire) == q.id && wire[2]&flagQR != 0
	if matches && wire[2]&flagTC != 0 {
		return truncated, nil
	}
	reply, err := unpack(wire)
	switch {
	case err == nil && q.isRepliedBy(reply):
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
