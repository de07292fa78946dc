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
	udpBuffer  = 4096 // bytes, for servers that send more than udpPayload
	maxIgnored = 16   // datagrams ignored before the query is repeated over TCP
)

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
	buffer, notDNS := make([]byte, udpBuffer), false
	for range maxIgnored {
		n, err := conn.Read(buffer)
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
