package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// serveCmd starts the origin.
type serveCmd struct {
	databaseFlag
	moduleFlags

	Listen         string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen (${default})."`
	DNS            []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to ask, several with commas (default: those of /etc/resolv.conf)."`
	DNSTimeout     time.Duration `name:"dns-timeout" default:"5s" help:"How long one MX look-up may take (${default})."`
	BatchTimeout   time.Duration `default:"10s" help:"How long the work of a batch may take before it answers with what is finished; the charge may add a second (${default})."`
	EdgeSecret     string        `placeholder:"SECRET" help:"The secret that the deployment's workers send to /v1/edge/admit; without it there is no such path."`
	Plans          string        `placeholder:"FILE" help:"Plans as a JSON array: name, rate, points, overage."`
	MaxConnections int           `default:"16384" placeholder:"N" help:"How many client connections to hold at a time, about 25 KiB each; further ones get 503 (${default})."`
	Grace          time.Duration `default:"15s" help:"How long requests under way may take after SIGTERM (${default})."`
	Log            string        `enum:"json,text" default:"json" help:"Form of the log on standard error: json or text."`
	Demo           bool          `help:"Make a demo account on an empty database and print a curl line with its key."`
}

// Run serves until ctx ends and then stops gracefully.
func (c *serveCmd) Run(ctx context.Context, std streams) error {
	log := c.logger(std)
	if c.MaxConnections < 1 {
		return fmt.Errorf("--max-connections %d: give a number of at least 1", c.MaxConnections)
	}
	listener, err := listen(c.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	origin, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer origin.close()
	if err := c.welcome(ctx, std, origin.ledger, listener.Addr()); err != nil {
		return err
	}
	return c.serve(ctx, log, listener, origin)
}

func (c *serveCmd) logger(std streams) *slog.Logger {
	if c.Log == "text" {
		return slog.New(slog.NewTextHandler(std.err, nil))
	}
	return slog.New(slog.NewJSONHandler(std.err, nil))
}

// listen takes the port before anything else is touched.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program; stop it or give another --listen HOST:PORT", address)
	case err != nil:
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return listener, nil
}

// serve answers requests until ctx ends.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger, listener net.Listener, o *origin) error {
	server := c.httpServer(o.api, log)
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	go c.watchLists(ctx, log, o.engine)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(api.Listener(api.Bounded(listener, c.MaxConnections))) }()
	c.logConfig(log, listener.Addr(), o.engine.View().Info())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return c.shutDown(log, listener, server, o, cancel)
}

// logConfig logs what the service runs with, without secrets.
func (c *serveCmd) logConfig(log *slog.Logger, at net.Addr, info host.Info) {
	log.Info("serving", "address", at.String(), "release", release,
		"engine", info.Engine, "lists", info.Lists, "model", info.Model,
		"database", c.redacted(), "dns", strings.Join(c.DNS, ","), "dns_timeout", c.DNSTimeout.String(),
		"batch_timeout", c.BatchTimeout.String(), "grace", c.Grace.String(), "typo_suggestion", c.TypoSuggestion,
		"max_connections", c.MaxConnections, "edge", c.EdgeSecret != "",
		"module_file", c.Module, "lists_file", c.Lists, "plans_file", c.Plans)
}

// shutDown answers what is under way: batches with what is finished at once, and
// other requests when they are finished. Those that the grace would cut off are
// cancelled shortly before its end, so that they get 503.
func (c *serveCmd) shutDown(log *slog.Logger, listener net.Listener, server *http.Server, o *origin, cancel func()) error {
	log.Info("stopping", "grace", c.Grace.String())
	ctx, end := context.WithTimeout(context.Background(), c.Grace)
	defer end()
	defer time.AfterFunc(c.Grace-min(time.Second, c.Grace/4), cancel).Stop()
	o.api.Stop()
	drain(listener)
	if err := server.Shutdown(ctx); err != nil {
		server.Close()
		return fmt.Errorf("some requests were cut off: they took longer than the grace of %s", c.Grace)
	}
	log.Info("stopped")
	return nil
}

// httpServer bounds how long a client may take over each part of a request.
func (c *serveCmd) httpServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15*time.Second + c.BatchTimeout + c.DNSTimeout,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true,
	}
}

// origin is what serve wires together.
type origin struct {
	api      *api.Server
	engine   *host.Engine
	ledger   *ledger.Ledger
	resolver *mx.Resolver
}

func (o *origin) close() {
	o.resolver.Close()
	o.ledger.Close()
	o.engine.Close(context.Background())
}

// open starts the parts, cheapest failure first.
func (c *serveCmd) open(ctx context.Context, log *slog.Logger) (_ *origin, err error) {
	o := new(origin)
	if o.resolver, err = mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout}); err != nil {
		return nil, err
	}
	if o.ledger, err = c.openLedger(ctx, ledger.WithLog(log)); err != nil {
		o.resolver.Close()
		return nil, err
	}
	if err = storePlans(ctx, o.ledger, c.Plans); err == nil {
		o.engine, err = c.moduleFlags.engine(ctx)
	}
	if err != nil {
		o.resolver.Close()
		o.ledger.Close()
		return nil, err
	}
	warnOfResolver(ctx, log, o.resolver)
	o.api = api.New(api.Config{
		Engine: o.engine, Ledger: api.FromLedger(o.ledger), Resolver: o.resolver, Log: log,
		Metrics:      api.NewMetrics(registry(o)),
		BatchTimeout: c.BatchTimeout, EdgeSecret: c.EdgeSecret, Flags: c.flags(),
	})
	return o, nil
}

// warnOfResolver logs that the resolver does not answer. The start goes on: the
// resolver may come up later, and what needs no MX is served meanwhile.
func warnOfResolver(ctx context.Context, log *slog.Logger, resolver *mx.Resolver) {
	if err := resolver.Probe(ctx); err != nil {
		log.Warn("MX look-ups will fail until a resolver answers; see --dns", "error", err.Error())
	}
}
