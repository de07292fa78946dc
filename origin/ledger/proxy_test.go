package ledger

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// A proxy stands between a ledger and PostgreSQL and cuts the connection at a
// commit, when told to: before the server has seen it, or after the server has
// done it and before the ledger learns so.
type proxy struct {
	dir    string // of its socket
	server string // the server's socket
	cut    atomic.Int32
	cuts   atomic.Int32 // how often it has cut
}

const (
	cutNothing = iota
	cutBeforeCommit
	cutAfterCommit
)

const socket = ".s.PGSQL.5432"

func startProxy(t *testing.T, s server) *proxy {
	dir, err := os.MkdirTemp("", "proxy-") // the test's own folder is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &proxy{dir: dir, server: filepath.Join(s.Dir, socket)}
	listener, err := net.Listen("unix", filepath.Join(p.dir, socket))
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	swallow := &atomic.Bool{}
	go p.answers(client, server, swallow)
	p.requests(client, server, swallow)
}

// requests forwards what the client sends, until it ends or sends a COMMIT
// before which to cut.
func (p *proxy) requests(client, server net.Conn, swallow *atomic.Bool) {
	from, to := pgproto3.NewBackend(client, client), pgproto3.NewFrontend(server, server)
	start, err := from.ReceiveStartupMessage()
	if err != nil {
		return
	}
	to.Send(start)
	commit := "\x00" // name of the statement prepared for COMMIT
	for err = to.Flush(); err == nil; err = to.Flush() {
		message, err := from.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Parse:
			if m.Query == "COMMIT" {
				commit = m.Name
			}
		case *pgproto3.Bind:
			if m.PreparedStatement == commit && p.cut.CompareAndSwap(cutBeforeCommit, cutNothing) {
				p.cuts.Add(1)
				return
			}
			if m.PreparedStatement == commit && p.cut.CompareAndSwap(cutAfterCommit, cutNothing) {
				swallow.Store(true)
			}
		}
		to.Send(message)
	}
}

// answers forwards what the server sends; once it swallows, it waits for the
// answer to COMMIT instead and cuts.
func (p *proxy) answers(client, server net.Conn, swallow *atomic.Bool) {
	defer client.Close()
	defer server.Close()
	var swallowed []byte
	for buffer := make([]byte, 1<<16); ; {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if !swallow.Load() {
			_, _ = client.Write(buffer[:n])
			continue
		}
		if swallowed = append(swallowed, buffer[:n]...); bytes.Contains(swallowed, []byte("COMMIT\x00")) {
			p.cuts.Add(1)
			return
		}
	}
}
