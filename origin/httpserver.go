package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/api"
)

// A front is a port and the server that answers on it.
type front struct {
	listener net.Listener
	server   *http.Server
}

// newFront bounds how many clients there are and how long one may take over
// each part of a request. working is how long an answer may take beyond that.
func newFront(listener net.Listener, handler http.Handler, o *origin, connections int, working time.Duration) *front {
	return &front{api.Listener(listener, connections, o.api.Metrics, handler), &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15*time.Second + working,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(o.log.Handler(), slog.LevelDebug),

		ConnContext:                  api.ConnContext,
		DisableGeneralOptionsHandler: true,
	}}
}

// serve answers until the front is shut down; failed gets the error of a front
// that ends before.
func (f *front) serve(failed chan<- error) {
	if err := f.server.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// shutDown lets requests under way end until ctx does, and cuts off the others.
func (f *front) shutDown(ctx context.Context) error {
	err := f.server.Shutdown(ctx)
	if err != nil {
		f.server.Close()
	}
	return err
}
