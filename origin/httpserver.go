package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/api"
)

// An httpServer is a listener and the server of its connections.
type httpServer struct {
	listener net.Listener
	server   *http.Server
	underWay atomic.Int64 // requests
}

// newHTTPServer limits the number of connections and the time of each part of a
// request. working is the time that the work for a response may take.
func newHTTPServer(listener net.Listener, handler http.Handler, o *origin, connections int, working time.Duration) *httpServer {
	s := &httpServer{listener: api.Listener(listener, connections, o.api.Metrics, handler)}
	s.server = &http.Server{
		Handler:           s.counted(handler),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15*time.Second + working,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(o.log.Handler(), slog.LevelDebug),

		ConnContext:                  api.ConnContext,
		DisableGeneralOptionsHandler: true,
	}
	return s
}

// counted counts the requests under way.
func (s *httpServer) counted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.underWay.Add(1)
		defer s.underWay.Add(-1)
		handler.ServeHTTP(w, r)
	})
}

// serve serves until shutDown is called. It sends any other error to failed.
func (s *httpServer) serve(failed chan<- error) {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// shutDown waits for the requests under way until ctx ends, and then cuts off the
// remaining ones, which is an error. Connections on which no request has begun do
// not count: Shutdown waits for them too, up to 5 s.
func (s *httpServer) shutDown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err == nil {
		return nil
	}
	cutOff := s.underWay.Load() > 0
	s.server.Close()
	if cutOff {
		return err
	}
	return nil
}
