// Package mcp serves checks of addresses to assistants by the Model Context
// Protocol, over standard input and output.
//
// It has three tools: check_email for one address, check_emails for up to 64, and
// explain, which says why. All have typed inputs and outputs whose descriptions say
// what a field means and what does not follow from it (facts.go, details.go).
//
// The protocol is that of the official SDK, github.com/modelcontextprotocol/go-sdk,
// which follows its revisions. The package adds limits: see connection.go. It reads
// and writes nothing but the protocol, and keeps nothing of a call.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check"
)

// A Mode is where facts come from. It decides what the tools' descriptions
// promise.
type Mode uint8

// Offline looks nothing up, DNS looks MX records up, and Service asks an addrspec
// service, which charges points.
const (
	Offline Mode = iota
	DNS
	Service
)

// Options configure a server.
type Options struct {
	Release  string
	Mode     Mode
	Checker  check.Checker
	Detailed check.Checker // the same, with the member details
}

// Serve serves one client until in ends or ctx does, which is no error. Calls under
// way are finished if in ends, and cancelled if ctx does.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	stdio := &sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}, MaxLineLength: maxMessage}
	err := newServer(ctx, o).Run(ctx, &transport{stdio, ctx})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("the connection ended: a message of the client is not one of the protocol (one JSON object a line, at most %d bytes), or nobody reads the answers: %w", maxMessage, err)
}

type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

func newServer(ctx context.Context, o Options) *sdk.Server {
	s := sdk.NewServer(
		&sdk.Implementation{Name: "addrspec", Title: "Email address checks", Version: o.Release},
		&sdk.ServerOptions{
			Instructions: instructions(o.Mode),
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the tools never change
		})
	s.AddReceivingMiddleware(refuseSubscriptions)
	addTools(s, &tools{o, ctx})
	return s
}
