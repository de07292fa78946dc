package mx

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"github.com/miekg/dns"
)

const (
	udpBuffer  = 4096 // bytes, for servers that send more than was asked for
	maxIgnored = 16   // datagrams passed over before a query moves to TCP
)

// overUDP sends query from a port of its own (random, and connected, so that
// the kernel drops what others send) and waits for the reply to it. What
// comes before is forged or late: it is passed over. Where much of that comes,
// somebody is guessing ids, and the reply is left for TCP as if truncated.
func (r *Resolver) exchangeUDP(ctx context.Context, s *server, query *dns.Msg) (*dns.Msg, error) {
	r.counters.udp.Add(1)
	conn, err := send(ctx, "udp", s, query)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	buffer, garbage := make([]byte, udpBuffer), false
	for range maxIgnored {
		n, err := conn.Read(buffer)
		if err != nil && garbage {
			return nil, errNotDNS
		}
		if err != nil {
			return nil, err
		}
		reply, err := parseReply(buffer[:n], query)
		if reply != nil || err == errMalformed {
			return reply, err
		}
		garbage = garbage || err != nil
		r.counters.ignored.Add(1)
	}
	return truncated, nil
}

// overTCP asks again on a stream, where nothing is truncated and no other
// host can answer.
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

// readFrame reads one message of RFC 1035 section 4.2.2.
func readFrame(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	wire := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, wire)
	return wire, err
}

// send opens a connection and writes query to it. Reads and writes fail once
// ctx ends, which it does with the race.
func send(ctx context.Context, network string, s *server, query *dns.Msg) (net.Conn, error) {
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	if network == "tcp" {
		wire = append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, s.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })
	if _, err = conn.Write(wire); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

var past = time.Unix(1, 0)
