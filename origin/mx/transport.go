package mx

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"github.com/miekg/dns"
)

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
	if err != nil || reply.Truncated || !q.isAnsweredBy(reply) {
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
