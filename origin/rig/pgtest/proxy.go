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
	AfterCommit                // the server's reply to COMMIT does not reach the client
)

// A Proxy forwards connections to the server, and can cut them around a COMMIT so
// that the client cannot know the outcome.
type Proxy struct {
	dir      string // directory of its socket
	server   string // path of the server's socket
	listener net.Listener
	moment   atomic.Int32
	left     atomic.Int64 // connections to cut
	cuts     atomic.Int64 // connections cut so far
	shut     atomic.Bool
}

// socketName is the socket of port 5432.
const socketName = ".s.PGSQL.5432"

// Proxy starts a proxy in front of the server.
func (s *Server) Proxy() (p *Proxy, err error) {
	p = &Proxy{server: filepath.Join(s.Dir, socketName)}
	p.dir, err = os.MkdirTemp("", "addrspec-proxy-")
	if err != nil {
		return nil, err
	}
	p.listener, err = net.Listen("unix", filepath.Join(p.dir, socketName))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	go p.accept()
	return p, nil
}

// URL returns a database's URL through the proxy.
func (p *Proxy) URL(url string) string {
	return strings.Replace(url, "host="+filepath.Dir(p.server), "host="+p.dir, 1)
}

// Cut makes the proxy cut that many connections, each at its next COMMIT.
func (p *Proxy) Cut(moment Moment, connections int64) {
	p.moment.Store(int32(moment))
	p.left.Store(connections)
}

// Left returns the number of connections still to be cut.
func (p *Proxy) Left() int64 { return max(0, p.left.Load()) }

// Cuts returns the number of connections that were cut.
func (p *Proxy) Cuts() int64 { return p.cuts.Load() }

// Shut shuts or opens the proxy. While shut, and after the last cut of Cut, it ends
// each connection at its next message.
func (p *Proxy) Shut(shut bool) { p.shut.Store(shut) }

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
		go func() {
			defer client.Close()
			server, err := net.Dial("unix", p.server)
			if err != nil {
				return
			}
			defer server.Close()
			fromClient, fromServer := pgproto3.NewBackend(client, client), pgproto3.NewFrontend(server, server)
			go func() {
				defer client.Close()
				defer server.Close()
				p.forwardServer(fromClient, fromServer)
			}()
			p.forwardClient(fromClient, fromServer)
		}()
	}
}

// due reports whether to cut a connection that is at the moment, and counts it.
func (p *Proxy) due(moment Moment) bool {
	due := Moment(p.moment.Load()) == moment && p.left.Load() > 0 && p.left.Add(-1) >= 0
	if due {
		p.cuts.Add(1)
	}
	return due
}

// forwardClient forwards the client's messages, until either side ends or the proxy cuts the
// connection.
func (p *Proxy) forwardClient(client *pgproto3.Backend, server *pgproto3.Frontend) {
	commits := map[string]bool{} // prepared statements that are a COMMIT
	message, err := client.ReceiveStartupMessage()
	if _, isStartup := message.(*pgproto3.StartupMessage); !isStartup { // a request for encryption or to cancel
		return
	}
	for ; err == nil; message, err = client.Receive() {
		isCommit := false
		switch m := message.(type) {
		case *pgproto3.Query:
			isCommit = isCommitQuery(m.String)
		case *pgproto3.Parse:
			commits[m.Name] = isCommitQuery(m.Query)
		case *pgproto3.Bind:
			isCommit = commits[m.PreparedStatement]
		}
		if p.shut.Load() && p.Left() == 0 || isCommit && p.due(BeforeCommit) {
			return
		}
		server.Send(message)
		if server.Flush() != nil {
			return
		}
	}
}

func isCommitQuery(query string) bool { return strings.EqualFold(strings.Trim(query, " ;"), "commit") }

// forwardServer forwards the server's messages.
func (p *Proxy) forwardServer(client *pgproto3.Backend, server *pgproto3.Frontend) {
	for {
		message, err := server.Receive()
		if err != nil {
			return
		}
		done, ok := message.(*pgproto3.CommandComplete)
		if ok && string(done.CommandTag) == "COMMIT" && p.due(AfterCommit) {
			return
		}
		client.Send(message)
		if client.Flush() != nil {
			return
		}
	}
}
