package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard"
)

type dashboardCmd struct {
	Preview previewCmd `cmd:"" help:"Serve every page in every state from fixed data, without a database, for developers."`
}

type previewCmd struct {
	Listen string `env:"-" default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Where to listen (${default})."`
}

// Run serves the previews until ctx ends.
func (c *previewCmd) Run(ctx context.Context, std streams) error {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: dashboard.Previews(release), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(std.out, "every page is at http://%s/preview/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
