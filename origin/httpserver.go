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

// An httpServer is a listener and the server of its connections.
type httpServer struct {
	listener net.Listener
	server   *http.Server
}

// newHTTPServer limits the number of connections and the time of each part of a
// request. working is the time that the work for a response may take.
func newHTTPServer(listener net.Listener, handler http.Handler, o *origin, connections int, working time.Duration) *httpServer {
	return &httpServer{api.Listener(listener, connections, o.api.Metrics, handler), &http.Server{
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

// serve serves until shutDown is called. It sends any other error to failed.
func (s *httpServer) serve(failed chan<- error) {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// shutDown waits for the requests under way until ctx ends, and then cuts off the
// remaining ones.
func (s *httpServer) shutDown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err != nil {
		s.server.Close()
	}
	return err
}
