package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/logging"
	"github.com/addrspec/addrspec/wasm/host"
)

// serveCmd runs the origin.
type serveCmd struct {
	databaseFlag   `group:"Database:"`
	moduleFlags    `group:"Module and lists:"`
	dashboardFlags `group:"Dashboard and sign-in:"`
	securityFlags  `group:"security.txt:"`

	Listen         string        `group:"Listeners:" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address to listen at (${default})."`
	OperatorListen string        `group:"Listeners:" placeholder:"HOST:PORT" help:"A separate address for /metrics and /readyz, for which --listen then answers 404 (default: they are at --listen)."`
	DNS            []string      `group:"DNS:" placeholder:"HOST:PORT" help:"Recursive resolvers to query, separated by commas (default: those of /etc/resolv.conf)."`
	DNSTimeout     time.Duration `group:"DNS:" name:"dns-timeout" default:"5s" help:"The longest time of one MX look-up. Before that, a look-up may wait for as long while its account's share is in use (${default})."`
	DNSConcurrency int           `group:"DNS:" name:"dns-concurrency" default:"256" placeholder:"N" help:"The most MX look-ups at a time. One account gets at most a quarter of them, and less while others use them (${default})."`
	BatchTimeout   time.Duration `group:"Limits:" default:"10s" help:"The longest time of a batch's work, after which the response has the items finished so far. The charge may add a second (${default})."`
	EdgeSecret     edgeSecrets   `group:"Listeners:" placeholder:"SECRET[,SECRET]" help:"The secret that edge workers send to /v1/edge/admit, at least 16 characters without a comma. Two, separated by a comma, are both accepted while the workers change from one to the other. Without it the path does not exist."`
	Plans          string        `group:"Database:" placeholder:"FILE" help:"A file of plans, as for 'plan load'. serve reloads it on SIGHUP."`
	Hooks          string        `group:"Sign-up hooks:" type:"path" placeholder:"FILE" help:"A JSON file of sign-up hooks, which answer POST /v1/hooks/NAME. serve reloads it on SIGHUP. 'hooks check' validates it."`
	MaxConnections int           `group:"Limits:" default:"16384" placeholder:"N" help:"The most client connections, about 25 KiB each. A further one replaces the one that was idle longest, or gets 503 if every one has a request under way (${default})."`
	BodyMemory     byteSize      `group:"Limits:" default:"64MiB" placeholder:"SIZE" help:"The most memory for bodies and responses of requests under way, a quarter of it for one account. The process needs about twice as much (${default})."`
	ListsURL       string        `group:"Module and lists:" name:"lists-url" placeholder:"URL" help:"A feed of signed lists: the folder of a web server that './build.sh lists --feed' writes. Needs --lists-key. Newer lists are taken over while requests go on, and stored at --lists if that is given."`
	ListsInterval  time.Duration `group:"Module and lists:" default:"6h" help:"The time between two looks at --lists-url, give or take a tenth (${default})."`
	Grace          time.Duration `group:"Limits:" default:"15s" help:"The time for requests under way to finish after SIGTERM (${default})."`
	Log            logging.Form  `group:"Log:" enum:"json,text" default:"json" help:"Format of the log on standard error: json or text."`
	Demo           bool          `group:"Database:" help:"Create a demo account at the first start and print a curl line with its key."`
}

// Run serves until ctx ends, and then stops gracefully.
func (c *serveCmd) Run(ctx context.Context, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	ignoreBrokenPipe()
	hangUp, stop := hangUps()
	defer stop()
	log := logging.Open(std.err, c.Log)
	defer log.Close()
	c.warn(log.Logger)
	listeners, err := c.openListeners()
	if err != nil {
		return err
	}
	defer listeners.close()
	origin, err := c.open(ctx, log, listeners.public.Addr())
	if err != nil {
		return err
	}
	defer origin.close()
	defer c.addProcessor()()
	// A signal that ends the announcement ends the service below, gracefully.
	if err := c.announce(ctx, std, origin, listeners.public.Addr()); err != nil && ctx.Err() == nil {
		return err
	}
	return c.serve(ctx, log.Logger, hangUp, listeners, origin)
}

// serve answers requests until ctx ends.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger, hangUp <-chan os.Signal, p listeners, o *origin) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	public := newHTTPServer(p.public, o.api, o, c.MaxConnections, c.BatchTimeout+2*c.DNSTimeout) // twice: a look-up may wait for a slot as long as it may take
	public.server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 2)
	go public.serve(failed)
	operator := c.serveOperator(p.operator, o, failed)
	defer c.watch(ctx, log, hangUp, o)()
	defer o.runWebhooks(ctx)()
	processCollector.end(serveGrowth)
	go debug.FreeOSMemory() // the garbage of the start, such as the module's bytes: 3 MB
	c.logConfig(log, p, o.engine.View().Info())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The operator's server stops last: a load balancer polls /readyz meanwhile.
	defer operator()
	return c.shutDown(log, p.public, public, o, cancel)
}

// operatorConnections is the most connections to the operator's listener.
const operatorConnections = 64

// serveOperator serves the operator's listener, if there is one, until stop is
// called.
func (c *serveCmd) serveOperator(listener net.Listener, o *origin, failed chan<- error) (stop func()) {
	if listener == nil {
		return func() {}
	}
	f := newHTTPServer(listener, o.api.Operator(), o, operatorConnections, 0)
	go f.serve(failed)
	return func() {
		ctx, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		_ = f.shutDown(ctx)
	}
}

// logConfig logs the configuration, without secrets.
func (c *serveCmd) logConfig(log *slog.Logger, p listeners, info host.Info) {
	log.Info("serving", "address", p.public.Addr().String(), "operator_address", p.operatorAddress(), "release", release,
		"engine", info.Engine, "lists", info.Lists, "model", info.Model,
		"database", c.redacted(), "dns", strings.Join(c.DNS, ","), "dns_timeout", c.DNSTimeout.String(), "dns_concurrency", c.DNSConcurrency,
		"batch_timeout", c.BatchTimeout.String(), "grace", c.Grace.String(), "typo_suggestion", c.TypoSuggestion,
		"max_connections", c.MaxConnections, "body_memory", c.BodyMemory.String(), "edge", c.EdgeSecret != "",
		"dashboard", c.Dashboard, "webhooks", c.Webhooks, "signup", c.SignUp, "public_url", c.PublicURL, "openid_issuer", c.OpenIDIssuer,
		"module_file", c.Module, "lists_file", c.Lists, "lists_url", c.listsSource(), "lists_interval", c.ListsInterval.String(), "plans_file", c.Plans, "hooks_file", c.Hooks)
}

// shutDown lets requests under way finish. Batches return at once with the items
// finished so far. Requests that would outlast the grace are cancelled shortly
// before its end, so that they get 503.
func (c *serveCmd) shutDown(log *slog.Logger, listener net.Listener, f *httpServer, o *origin, cancel func()) error {
	log.Info("stopping", "grace", c.Grace.String())
	ctx, end := context.WithTimeout(context.Background(), c.Grace)
	defer end()
	defer time.AfterFunc(c.Grace-min(time.Second, c.Grace/4), cancel).Stop()
	o.api.Stop()
	drain(listener)
	if err := f.shutDown(ctx); err != nil {
		return fmt.Errorf("some requests were cut off because they took longer than the grace of %s", c.Grace)
	}
	log.Info("stopped")
	return nil
}
