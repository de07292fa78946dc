package mx

import (
	"context"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	udpBuffer  = 4096 // bytes, for servers that send more than udpPayload
	maxIgnored = 16   // datagrams ignored before the query is repeated over TCP
)

// udpQuery is a query that was sent to one server from a socket of its own: a random
// port, connected, so that the kernel drops datagrams from other hosts. Its fields
// are those of one goroutine at a time.
type udpQuery struct {
	question
	server *server
	sent   time.Time
	conn   socket // nil if it could not be opened

	ignored int  // datagrams that were no reply
	notDNS  bool // one of them was not DNS

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

// close closes the socket. Then u must not be used.
func (u *udpQuery) close() {
	if u.conn != nil {
		u.conn.Close()
	}
	u.conn, u.server, u.name, u.reply, u.err = nil, nil, "", nil, nil
	u.ignored, u.notDNS, u.finished = 0, false, false
	udpQueries.Put(u)
}

// replyTo waits for the reply until ctx ends.
func (r *Resolver) replyTo(ctx context.Context, u *udpQuery) (*dns.Msg, error) {
	if !u.finished {
		forget := watch(ctx, u.conn)
		r.receive(u)
		forget()
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
