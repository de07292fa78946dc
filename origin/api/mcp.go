package api

import (
	"net/http"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
)

const (
	mcpPath  = "/mcp"
	mcpRoute = "mcp"
	// mcpHeaders are the headers that the protocol has for a POST.
	mcpHeaders = ", Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
)

// messageBody is the body of a message: 64 valid addresses, every byte escaped with six, and a policy of
// 64 KiB are less than its limit.
var messageBody = wire.Body{
	Limit:   256 << 10,
	TooLong: "The body is over 256 KiB; check fewer addresses at a time.",
	NotJSON: "Send the body as JSON, with the header Content-Type: application/json, and without a Content-Encoding.",
}

// What a message holds in memory until its response is sent, besides the operation of a tool, in bytes.
const (
	messageMemory = 64 << 10
	messageFactor = 8 // for each byte of it
)

// message is POST /mcp. The message needs a good key, and takes no token and no points: if it calls a
// tool, that is an operation of its own, which takes them. The steps are
//
//	key, without a lookup       401
//	Peek: ledger, key           503, 401 (401 also for a wrong Origin)
//	memory, body                429, 503; 415, 413, 400
//	Respond                     the protocol's own statuses, and errors in its form
func (s *Server) message(r *http.Request) (resp wire.Response) {
	key, p := wire.ReadKey(r.Header)
	if p != nil {
		return p.Response(wire.Flat)
	}
	account, decision, err := s.Ledger.Peek(r.Context(), key, wire.PageOrigin(r.Header))
	x := &exchange{Server: s, caller: r.Context()}
	p = x.judge(decision, err, 0)
	if account == 0 {
		return x.respond(resp, p)
	}
	x.memory = reservation{budget: s.memory, owner: owner{account: account}}
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(mcpRoute, cause)
			resp = wire.Defect().Response(wire.Flat)
		}
		resp.AllowOrigin(decision.AllowOrigin)
		resp.AfterSend = x.memory.free
	}()
	blocked := ""
	if p != nil {
		blocked = p.Message
	}
	message, p := x.readBody(r, messageBody)
	if p == nil {
		p = x.memory.take(r.Context(), messageMemory+messageFactor*len(message))
	}
	if p != nil {
		return p.Response(wire.Flat)
	}
	// The operation of a tool has no connection of its own.
	resp.Status, resp.Body = s.MCP.Respond(r.WithContext(conn.Without(r.Context())), key, message, blocked)
	return resp
}
