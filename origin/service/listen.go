package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/api/conn"
)

// listeners are those of --listen and --operator-listen. operator is nil without
// the second flag.
type listeners struct{ public, operator net.Listener }

func (s *Service) openListeners(context.Context) (err error) {
	if s.listeners.public, err = listen("--listen", s.Listen); err != nil {
		return err
	}
	s.later(func() { s.listeners.public.Close() })
	if s.OperatorListen == "" {
		return nil
	}
	if s.listeners.operator, err = listen("--operator-listen", s.OperatorListen); err == nil {
		s.later(func() { s.listeners.operator.Close() })
	}
	return err
}

// listen listens at the address of a flag, which its errors name.
func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; stop it or choose another %s HOST:PORT", address, flag)
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}

// otherFiles is what the service opens besides connections and lookups: database, log,
// lists, webhooks, the OpenID provider, pipes.
const otherFiles = 256

// FilesNeeded returns how many files a service opens at most, beside its operator's
// listener: a client connection is one, and so is the query of a lookup.
func FilesNeeded(connections, lookups int) int { return connections + lookups + otherFiles }

// fitFiles lowers --dns-concurrency and --max-connections to what the process may open,
// so that the database and lookups find a file however many clients come. Lookups get a
// quarter of the files at most.
func (c *Config) fitFiles(limit int, log *slog.Logger) {
	operator := 0
	if c.OperatorListen != "" {
		operator = operatorConnections(limit)
	}
	needed := FilesNeeded(c.MaxConnections, c.DNSConcurrency) + operator
	if needed <= limit {
		return
	}
	c.DNSConcurrency = max(1, min(c.DNSConcurrency, limit/4))
	left := limit - operator - c.DNSConcurrency - min(otherFiles, limit/4)
	c.MaxConnections = max(1, min(c.MaxConnections, left))
	log.Warn("the process may open few files, so there are fewer connections and lookups than configured: "+
		"raise its limit (LimitNOFILE= in the unit, ulimit -n)",
		"open_files", limit, "needed", needed, "max_connections", c.MaxConnections, "dns_concurrency", c.DNSConcurrency)
}

// An httpServer is a listener and the server of its connections.
type httpServer struct {
	listener net.Listener
	server   *http.Server
	inFlight atomic.Int64 // requests
}

// newHTTPServer limits the number of connections and the time of each part of a
// request. working is the time that the work for a response may take.
func (s *Service) newHTTPServer(
	listener net.Listener, handler http.Handler, connections int, working time.Duration,
) *httpServer {
	h := new(httpServer)
	h.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.inFlight.Add(1)
			defer h.inFlight.Add(-1)
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15*time.Second + working,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true,
	}
	h.listener = conn.Listen(h.server, listener,
		conn.Config{Limit: connections, Refusal: s.api.Metrics.Refusal, Metrics: s.conns})
	return h
}

// serve serves until shutDown is called. It sends any other error to failed.
func (s *httpServer) serve(failed chan<- error) {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// shutDown waits for the requests in flight until ctx ends, and then cuts off the
// remaining ones, which is an error. Connections on which no request has begun do
// not count: Shutdown waits for them too, up to 5 s.
func (s *httpServer) shutDown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err == nil {
		return nil
	}
	cutOff := s.inFlight.Load() > 0
	s.server.Close()
	if cutOff {
		return err
	}
	return nil
}

// OperatorConnections is the most connections to the operator's listener.
const OperatorConnections = 64

// operatorConnections returns the most for a process that may open few files.
func operatorConnections(files int) int { return min(OperatorConnections, max(4, files/16)) }

// serveOperator serves the operator's listener, if there is one, until stop is
// called.
func (s *Service) serveOperator(failed chan<- error) (stop func()) {
	if s.listeners.operator == nil {
		return func() {}
	}
	h := s.newHTTPServer(s.listeners.operator, s.api.Operator(), operatorConnections(openFiles()), 0)
	go h.serve(failed)
	return func() {
		ctx, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		_ = h.shutDown(ctx)
	}
}
