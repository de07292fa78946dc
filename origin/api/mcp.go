package api

import (
	"context"
	"net/http"
)

// MCP responds to the messages of assistants (package mcp).
type MCP interface {
	// Respond responds to a message of the caller with the key, which is good. blocked is why
	// an operation with it would be refused now, "" if it would not. The body is JSON, or
	// empty.
	Respond(r *http.Request, key string, message []byte, blocked string) (status int, body []byte)
}

const (
	mcpPath  = "/mcp"
	mcpRoute = "mcp"
	// mcpHeaders are the headers that the protocol has for a POST.
	mcpHeaders = ", Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
	// maxMessage is the longest message in bytes: 64 valid addresses, every byte escaped with
	// six, and a policy of 64 KiB are less.
	maxMessage = 256 << 10
)

// message is POST /mcp. The message needs a good key, and takes no token and no points: if it
// calls a tool, that is an operation of its own, which takes them. The steps are
//
//	key, without a lookup       401
//	Peek: ledger, key           503, 401 (401 also for a wrong Origin)
//	read: memory                429, 503; 415, 413, 400
//	Respond                     the protocol's own statuses, and errors in its form
func (s *Server) message(r *http.Request) response {
	key, p := readKey(r.Header)
	if p != nil {
		return p.response(flat)
	}
	account, decision, err := s.Ledger.Peek(r.Context(), key, pageOrigin(r.Header))
	x := &exchange{Server: s, style: singleStyle, caller: r.Context()}
	p = x.judge(decision, err, 0)
	if account == 0 {
		return x.respond(success{}, p)
	}
	x.memory = reservation{budget: s.Memory, account: account}
	x.headerBytes = connOf(r.Context()).headerSize()
	resp := x.respondTo(r, key, p)
	resp.allowOrigin = decision.AllowOrigin
	return resp
}

// respondTo responds to a message with a good key. blocked is the problem of an operation
// with it, or nil.
func (x *exchange) respondTo(r *http.Request, key string, blocked *problem) (resp response) {
	defer func() {
		if cause := recover(); cause != nil {
			x.logPanic(mcpRoute, cause)
			resp = internalProblem().response(flat)
		}
		resp.afterSend = x.releaseMemory
	}()
	message, p := x.readMessage(r)
	if p != nil {
		return p.response(flat)
	}
	why := ""
	if blocked != nil {
		why = blocked.message
	}
	// The operation of a tool has no connection of its own.
	r = r.WithContext(context.WithValue(r.Context(), connKey{}, (*conn)(nil)))
	resp.status, resp.body = x.MCP.Respond(r, key, message, why)
	x.memory.set(int64(x.headerBytes + len(resp.body)))
	return resp
}

// readMessage reads the body and reserves what handling it holds.
func (x *exchange) readMessage(r *http.Request) ([]byte, *problem) {
	if p := x.reserveHeader(r.Context()); p != nil {
		return nil, p
	}
	message, p := x.readLimited(r, maxMessage)
	switch {
	case p != nil && p.code == bodyTooLarge:
		return nil, bodyTooLarge.with("The body is over 256 KiB; check fewer addresses at a time.")
	case p != nil:
		return nil, p
	}
	held := messageMemory + messageFactor*len(message)
	if err := x.reserveMore(r.Context(), held, held+int(neededFor(len(message)))); err != nil {
		return nil, bodyProblem(err, len(message))
	}
	return message, nil
}

// What a message holds in memory until its response is sent, besides the operation of a tool,
// in bytes.
const (
	messageMemory = 64 << 10
	messageFactor = 8 // for each byte of it
)
