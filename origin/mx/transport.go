package mx

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	udpBuffer  = 4096 // bytes, for servers that send more than udpPayload
	maxIgnored = 16   // datagrams ignored before the query is repeated over TCP
)

// buffers has the buffers of replies that no query reads. A decoded message keeps no
// part of its buffer.
var buffers = sync.Pool{New: func() any { return new([udpBuffer]byte) }}

// exchangeUDP sends query from a socket of its own (a random port, connected, so
// that the kernel drops datagrams from other hosts) and waits for the reply.
// Other datagrams are forged or late and are ignored. Many of them mean that an
// attacker guesses ids, so the reply is then requested over TCP as if truncated.
func (r *Resolver) exchangeUDP(ctx context.Context, s *server, query *dns.Msg) (*dns.Msg, error) {
	r.counters.udp.Add(1)
	conn, err := send(ctx, "udp", s, query)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	buffer, notDNS := buffers.Get().(*[udpBuffer]byte), false
	defer buffers.Put(buffer)
	for range maxIgnored {
		n, err := conn.Read(buffer[:])
		if err != nil && notDNS {
			return nil, errNotDNS
		}
		if err != nil {
			return nil, err
		}
		reply, err := parseReply(buffer[:n], query)
		if reply != nil || err == errMalformed {
			return reply, err
		}
		notDNS = notDNS || err != nil
		r.counters.ignored.Add(1)
	}
	return truncated, nil
}

// exchangeTCP repeats the query over TCP, which neither truncates the reply nor
// lets another host send it.
func (r *Resolver) exchangeTCP(ctx context.Context, s *server, query *dns.Msg) (*dns.Msg, error) {
	r.counters.tcp.Add(1)
	conn, err := send(ctx, "tcp", s, query)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	wire, err := readFrame(conn)
	if err != nil {
		return nil, err
	}
	reply, err := unpack(wire)
	if err != nil || reply.Truncated || !isReply(reply, query) {
		return nil, errMalformed
	}
	return reply, nil
}

// readFrame reads one message with its length prefix (RFC 1035 section 4.2.2).
func readFrame(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	wire := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, wire)
	return wire, err
}

// A connection is one on which reads and writes fail once a context ends.
type connection struct {
	net.Conn
	forget func() bool // ends the watch over the context
}

// Close also ends the watch, which would else start a goroutine after each look-up.
func (c connection) Close() error {
	c.forget()
	return c.Conn.Close()
}

// send opens a connection and writes query to it. Reads and writes fail once
// ctx ends.
func send(ctx context.Context, network string, s *server, query *dns.Msg) (net.Conn, error) {
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	if network == "tcp" {
		wire = append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...)
	}
	conn, err := s.connect(ctx, network)
	if err != nil {
		return nil, err
	}
	watched := connection{conn, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })}
	if _, err = conn.Write(wire); err != nil {
		watched.Close()
		return nil, err
	}
	return watched, nil
}

// connect returns a new connection to the server. Over UDP nothing is sent yet, and so
// nothing waits for ctx; a Dialer would work on the address for each query.
func (s *server) connect(ctx context.Context, network string) (net.Conn, error) {
	if network == "udp" {
		return net.DialUDP(network, nil, s.udp)
	}
	return new(net.Dialer).DialContext(ctx, network, s.address)
}

var past = time.Unix(1, 0)
