package pgtest

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

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
