package pgtest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A Moment is when a Proxy cuts a connection.
type Moment int32

// The moments.
const (
	BeforeCommit Moment = iota // COMMIT does not reach the server
	AfterCommit                // the server's answer to COMMIT does not reach the client
)

// A Proxy passes connections on to the server, and can cut them around a COMMIT
// so that the client cannot know the outcome.
type Proxy struct {
	dir      string // of its socket
	server   string // path of the server's socket
	listener net.Listener
	moment   atomic.Int32
	left     atomic.Int64 // connections to cut
	cuts     atomic.Int64 // connections cut so far
	shut     atomic.Bool
}

// socketName is the socket of port 5432.
const socketName = ".s.PGSQL.5432"

// Proxy starts a proxy before the server.
func (s *Server) Proxy() (p *Proxy, err error) {
	p = &Proxy{server: filepath.Join(s.Dir, socketName)}
	if p.dir, err = os.MkdirTemp("", "addrspec-proxy-"); err != nil {
		return nil, err
	}
	if p.listener, err = net.Listen("unix", filepath.Join(p.dir, socketName)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	go p.accept()
	return p, nil
}

// URL is a database's URL by way of the proxy.
func (p *Proxy) URL(url string) string {
	return strings.Replace(url, "host="+filepath.Dir(p.server), "host="+p.dir, 1)
}

// Cut cuts the next so many connections at the moment.
func (p *Proxy) Cut(moment Moment, connections int64) {
	p.moment.Store(int32(moment))
	p.left.Store(connections)
}

// Left is the number of connections still to be cut.
func (p *Proxy) Left() int64 { return max(0, p.left.Load()) }

// Cuts is the number of connections that were cut.
func (p *Proxy) Cuts() int64 { return p.cuts.Load() }

// Shut makes the proxy end every connection, once none is left to be cut, until
// it is opened again.
func (p *Proxy) Shut(shut bool) { p.shut.Store(shut) }

func (p *Proxy) isShut() bool { return p.shut.Load() && p.Left() == 0 }

// Close stops the proxy.
func (p *Proxy) Close() {
	p.listener.Close()
	os.RemoveAll(p.dir)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

// serve passes messages both ways until either side ends, or a cut.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{proxy: p, commits: map[string]bool{},
		client: pgproto3.NewBackend(client, client), server: pgproto3.NewFrontend(server, server)}
	go func() {
		defer client.Close()
		defer server.Close()
		l.answers()
	}()
	l.questions()
}

// due reports whether a connection is to be cut at this moment.
func (p *Proxy) due(moment Moment) bool {
	due := Moment(p.moment.Load()) == moment && p.left.Load() > 0 && p.left.Add(-1) >= 0
	if due {
		p.cuts.Add(1)
	}
	return due
}

// A link is one connection through a Proxy.
type link struct {
	proxy   *Proxy
	client  *pgproto3.Backend
	server  *pgproto3.Frontend
	commits map[string]bool // prepared statements that are a COMMIT
}

// questions passes the client's messages on.
func (l *link) questions() {
	message, err := l.client.ReceiveStartupMessage()
	if !isStartup(message) { // a request for encryption or to cancel
		return
	}
	for ; err == nil; message, err = l.client.Receive() {
		if l.proxy.isShut() || l.isCommit(message) && l.proxy.due(BeforeCommit) {
			return
		}
		l.server.Send(message)
		if l.server.Flush() != nil {
			return
		}
	}
}

func isStartup(m pgproto3.FrontendMessage) bool {
	_, ok := m.(*pgproto3.StartupMessage)
	return ok
}

// isCommit reports whether the message has the server commit.
func (l *link) isCommit(message pgproto3.FrontendMessage) bool {
	switch m := message.(type) {
	case *pgproto3.Query:
		return sayCommit(m.String)
	case *pgproto3.Parse:
		l.commits[m.Name] = sayCommit(m.Query)
	case *pgproto3.Bind:
		return l.commits[m.PreparedStatement]
	}
	return false
}

func sayCommit(query string) bool { return strings.EqualFold(strings.Trim(query, " ;"), "commit") }

// answers passes the server's messages on.
func (l *link) answers() {
	for {
		message, err := l.server.Receive()
		if err != nil {
			return
		}
		if done, ok := message.(*pgproto3.CommandComplete); ok && string(done.CommandTag) == "COMMIT" && l.proxy.due(AfterCommit) {
			return
		}
		l.client.Send(message)
		if l.client.Flush() != nil {
			return
		}
	}
}
