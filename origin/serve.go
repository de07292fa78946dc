package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/logging"
	"github.com/addrspec/addrspec/wasm/host"
)

// serveCmd starts the origin.
type serveCmd struct {
	databaseFlag
	moduleFlags

	Listen         string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen (${default})."`
	OperatorListen string        `placeholder:"HOST:PORT" help:"Where operators' tools get /metrics and /readyz; --listen then answers 404 for them (default: they are on --listen)."`
	DNS            []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to ask, several with commas (default: those of /etc/resolv.conf)."`
	DNSTimeout     time.Duration `name:"dns-timeout" default:"5s" help:"How long one MX look-up may take; it may wait as long before, while the account has its share of look-ups under way (${default})."`
	DNSConcurrency int           `name:"dns-concurrency" default:"256" placeholder:"N" help:"How many MX look-ups may ask at a time; one account alone gets a quarter of them, and less while others use them (${default})."`
	BatchTimeout   time.Duration `default:"10s" help:"How long the work of a batch may take before it answers with what is finished; the charge may add a second (${default})."`
	EdgeSecret     string        `placeholder:"SECRET" help:"The secret that the deployment's workers send to /v1/edge/admit, of at least 16 characters; without it there is no such path."`
	Plans          string        `placeholder:"FILE" help:"Plans as a JSON array: name, rate, points, overage."`
	MaxConnections int           `default:"16384" placeholder:"N" help:"How many client connections to hold at a time, about 25 KiB each; a further one replaces the one that was idle longest, or gets 503 if all are at work (${default})."`
	BodyMemory     size          `default:"64MiB" placeholder:"SIZE" help:"How much memory the bodies and answers of requests under way may take, a quarter of it for one account; the process needs about twice that (${default})."`
	Grace          time.Duration `default:"15s" help:"How long requests under way may take after SIGTERM (${default})."`
	Log            logging.Form  `enum:"json,text" default:"json" help:"Form of the log on standard error: json or text."`
	Demo           bool          `help:"Make a demo account on an empty database and print a curl line with its key."`
}

// Run serves until ctx ends and then stops gracefully.
func (c *serveCmd) Run(ctx context.Context, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	surviveClosedOutput()
	hangUp, stop := hangUps()
	defer stop()
	log := logging.Open(std.err, c.Log)
	defer log.Close()
	c.warn(log.Logger)
	ports, err := c.takePorts()
	if err != nil {
		return err
	}
	defer ports.close()
	origin, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer origin.close()
	if err := c.welcome(ctx, std, origin.ledger, ports.public.Addr()); err != nil {
		return err
	}
	return c.serve(ctx, log.Logger, hangUp, ports, origin)
}

// serve answers requests until ctx ends.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, p ports, o *origin) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	public := newFront(p.public, o.api, o, c.MaxConnections, c.BatchTimeout+2*c.DNSTimeout) // a look-up may wait as long as it may take
	public.server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 2)
	go public.serve(failed)
	operator := c.operatorFront(p.operator, o, failed)
	go c.watch(ctx, log, hangUp, o)
	c.logConfig(log, p, o.engine.View().Info())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The operator's front answers longest: a load balancer asks /readyz meanwhile.
	defer operator()
	return c.shutDown(log, p.public, public, o, cancel)
}

// operatorConnections is how many of the operator's tools may ask at a time.
const operatorConnections = 64

// operatorFront serves the operator's listener, if there is one, until the
// function that it returns is called.
func (c *serveCmd) operatorFront(listener net.Listener, o *origin, failed chan<- error) (stop func()) {
	if listener == nil {
		return func() {}
	}
	f := newFront(listener, o.api.Operator(), o, operatorConnections, 0)
	go f.serve(failed)
	return func() {
		ctx, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		_ = f.shutDown(ctx)
	}
}

// logConfig logs what the service runs with, without secrets.
func (c *serveCmd) logConfig(log *slog.Logger, p ports, info host.Info) {
	log.Info("serving", "address", p.public.Addr().String(), "operator_address", p.operatorAddress(), "release", release,
		"engine", info.Engine, "lists", info.Lists, "model", info.Model,
		"database", c.redacted(), "dns", strings.Join(c.DNS, ","), "dns_timeout", c.DNSTimeout.String(), "dns_concurrency", c.DNSConcurrency,
		"batch_timeout", c.BatchTimeout.String(), "grace", c.Grace.String(), "typo_suggestion", c.TypoSuggestion,
		"max_connections", c.MaxConnections, "body_memory", c.BodyMemory.String(), "edge", c.EdgeSecret != "",
		"module_file", c.Module, "lists_file", c.Lists, "plans_file", c.Plans)
}

// shutDown answers what is under way: batches with what is finished at once, and
// other requests when they are finished. Those that the grace would cut off are
// cancelled shortly before its end, so that they get 503.
func (c *serveCmd) shutDown(log *slog.Logger, listener net.Listener, f *front, o *origin, cancel func()) error {
	log.Info("stopping", "grace", c.Grace.String())
	ctx, end := context.WithTimeout(context.Background(), c.Grace)
	defer end()
	defer time.AfterFunc(c.Grace-min(time.Second, c.Grace/4), cancel).Stop()
	o.api.Stop()
	drain(listener)
	if err := f.shutDown(ctx); err != nil {
		return fmt.Errorf("some requests were cut off: they took longer than the grace of %s", c.Grace)
	}
	log.Info("stopped")
	return nil
}
