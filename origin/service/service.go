// Package service is the running service: [Open] starts its parts from one [Config],
// [Service.Run] serves until its context ends and then stops gracefully.
//
// The package connects the parts and has no logic of its own: package api handles
// requests, mx looks up MX records, ledger stores accounts, keys and points, wasm/host
// runs the module that computes the facts, dashboard has the pages.
//
// The flags (flags.go, database.go, module.go, config.go) know no service. parts.go has
// the parts, and listen.go, metrics.go, pages.go and watch.go what is done with them, which
// service.go calls.
package service

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mcp"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service/logging"
	"github.com/addrspec/addrspec/origin/webhook"
)

// Open checks the configuration, listens, and starts the parts. Connections wait until
// Run accepts them. The resolver and the database, which fail fast, come before the
// module, which may have to be compiled.
func Open(ctx context.Context, c *Config, log *logging.Log) (*Service, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.warn(log.Logger)
	c.fitFiles(openFiles(), log.Logger)
	s := &Service{Config: c, log: log}
	for _, open := range []func(context.Context) error{
		s.openListeners, s.openResolver, s.openLedger, s.openEngine, s.loadHooks, s.openAPI, s.openPages,
		s.loadSecurityTxt,
	} {
		if err := open(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *Service) openResolver(context.Context) error {
	resolver, err := mx.New(mx.Config{Servers: s.DNS, Timeout: s.DNSTimeout, Concurrency: s.DNSConcurrency,
		WithMX: s.KnownMX(), Strict: s.DNSStrict, Log: s.log.Logger})
	if err != nil {
		return err
	}
	s.resolver = resolver
	s.probing = &resolverWatch{resolver: resolver, log: s.log.Logger, strict: s.DNSStrict,
		pause: 2 * time.Minute, troublePause: 5 * time.Second}
	if s.DNSStrict {
		// With --dns-strict no false is believed before the resolvers were asked, so that
		// begins while the other parts open. The watch logs the outcome.
		ctx, cancel := context.WithTimeout(context.Background(), resolverAsked)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = resolver.Verify(ctx) })
		s.later(func() { cancel(); asking.Wait() })
	}
	s.later(resolver.Close)
	return nil
}

// openLedger opens the ledger with the plans of --plans, and seals the secrets in the
// database with the present key.
func (s *Service) openLedger(ctx context.Context) (err error) {
	s.ledger, err = ledger.Open(ctx, s.Database, ledger.WithLog(s.log.Logger))
	if err != nil {
		return err
	}
	s.later(func() { s.ledger.Close() })
	if err := s.ledger.CheckClock(ctx); err != nil {
		return err
	}
	// One thread more than the machine has processors runs Go code for a ledger in SQLite,
	// because its writer waits for the disk in a system call, and Go's scheduler gives the
	// place of such a thread to another only after 20 µs to 10 ms. Measured on two
	// processors: 1.04, 1.10 and 1.05 times the requests a second on 32, 128 and 512
	// connections. Meanwhile the runtime does not follow changes of a container's limit.
	if s.SQLiteFile() != "" && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
		s.later(runtime.SetDefaultGOMAXPROCS)
	}
	s.sealer, err = s.Sealer()
	if err != nil {
		return err
	}
	changed, err := s.sealer.SealAll(ctx, s.ledger.Store())
	if changed > 0 {
		s.log.Info("secrets in the database are sealed with the present key",
			"rows", changed, "key_id", s.sealer.IDs()[0])
	}
	if err != nil {
		return err
	}
	return s.loadPlans(ctx)
}

// openEngine starts the module with the lists of --lists and the rows of --lists-extra. If
// the module has to be compiled, the log says so, because nothing else happens meanwhile.
func (s *Service) openEngine(ctx context.Context) (err error) {
	// From the cache the module takes less; compiling it takes half a second to seconds.
	start, wait := time.Now(), 500*time.Millisecond
	if cached, _ := os.ReadDir(s.CachePath()); len(cached) == 0 && s.CachePath() != "" {
		wait = 0
	}
	slow := time.AfterFunc(wait, func() {
		s.log.Info("compiling the module for this machine; later starts take it from the cache",
			"cache_dir", s.CachePath())
	})
	s.engine, err = s.engineWith(ctx, nil)
	compiled := !slow.Stop()
	if err != nil {
		return err
	}
	if compiled {
		s.log.Info("compiled the module", "seconds", time.Since(start).Round(10*time.Millisecond).Seconds())
	}
	s.later(func() { s.engine.Close(context.Background()) })
	s.lists = &update.Keeper{Engine: s.engine, File: s.ListsFile(), Extra: s.ListsExtra,
		Log: s.log.Logger, Interval: s.ListsInterval}
	if s.ListsURL != "" {
		s.lists.Source, err = update.ParseURL(s.ListsURL)
		if err != nil {
			return err
		}
	}
	return s.lists.Start(ctx, s.engine.View().Info().Lists)
}

// openAPI opens the API, also for assistants, and the webhooks.
func (s *Service) openAPI(context.Context) error {
	networks, err := s.WebhookNetworks()
	if err != nil {
		return err
	}
	s.webhooks = webhook.New(s.ledger.Store(),
		webhook.Options{Log: s.log.Logger, Grace: s.Grace, Sealer: s.sealer, Allow: networks})
	registry := prometheus.NewRegistry()
	process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
	registry.MustRegister(collectors.NewGoCollector(), process)
	s.conns = conn.NewMetrics(registry)
	s.api = api.New(api.Config{
		Engine: s.engine, Ledger: api.FromLedger(s.ledger), Resolver: s.resolver, Log: s.log.Logger,
		Metrics:      api.NewMetrics(registry),
		BatchTimeout: s.BatchTimeout, EdgeSecrets: s.EdgeSecret.List(), Flags: s.Flags(), Memory: int(s.BodyMemory),
		OperatorApart: s.OperatorListen != "", Hooks: s.signUps, Distrusted: s.resolver.Distrusted,
	})
	registry.MustRegister(metrics{s}) // which collects once now
	s.api.MCP = mcp.NewHTTP(mcp.HTTPOptions{Release: Release, API: s.api, Engine: s.engine,
		Panicked: func(cause any) { s.log.Error("a tool of /mcp failed", "panic", fmt.Sprintf("%T", cause)) }})
	return nil
}

// serveGrowth is by how many percent the heap may grow before a collection. Each instance of
// the module counts with its 11 MB of addresses, of which it touches 2 MB, so Go's 100 % would
// let the heap grow by more than the service has in use. Measured after load: 80 MB at 40 %,
// 106 at 100 %, which served 2 to 5 % more requests a second. GOGC=100 in the environment
// chooses it.
const serveGrowth = 40

// Run handles requests until ctx ends, and then stops gracefully. Each value of hangUp
// reloads the files of --lists, --lists-extra, --plans, --hooks and --security-txt.
func (s *Service) Run(ctx context.Context, hangUp <-chan os.Signal) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	working := s.BatchTimeout + 2*s.DNSTimeout // twice: a lookup may wait for a slot as long as it may take
	public := s.newHTTPServer(s.listeners.public, s.api, s.MaxConnections, working)
	public.server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 2)
	go public.serve(failed)
	operator := s.serveOperator(failed)
	defer s.watch(ctx, hangUp)()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(serveGrowth)
	}
	go debug.FreeOSMemory() // the garbage of the start, such as the module's bytes: 5 MB

	info, feed := s.engine.View().Info(), "" // without the feed's secrets
	if s.lists.Source != nil {
		feed = s.lists.Source.String()
	}
	operatorAddress := ""
	if s.listeners.operator != nil {
		operatorAddress = s.listeners.operator.Addr().String()
	}
	s.log.Info("serving", "address", s.Addr().String(), "operator_address", operatorAddress,
		"release", Release, "engine", info.Engine, "lists", info.Lists, "model", info.Model,
		"database", s.Redacted(), "dns", strings.Join(s.DNS, ","), "dns_strict", s.DNSStrict,
		"dns_timeout", s.DNSTimeout.String(), "dns_concurrency", s.DNSConcurrency,
		"batch_timeout", s.BatchTimeout.String(), "drain", s.Drain.String(), "grace", s.Grace.String(), "typo_suggestion", s.TypoSuggestion,
		"max_connections", s.MaxConnections, "body_memory", s.BodyMemory.String(), "edge", s.EdgeSecret != "",
		"secret_key_ids", strings.Join(s.sealer.IDs(), ","), "dashboard", s.Dashboard, "webhooks", s.Webhooks,
		"signup", s.SignUp, "public_url", s.PublicURL, "source_url", s.SourceURL, "openid_issuer", s.OpenIDIssuer, "security_txt_file", s.SecurityTxt,
		"module_file", s.Module, "lists_file", s.Lists, "lists_extra_file", s.ListsExtra,
		"lists_url", feed, "lists_interval", s.ListsInterval.String(), "plans_file", s.Plans, "hooks_file", s.Hooks)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The operator's server stops last: a load balancer polls /readyz meanwhile.
	defer operator()
	return s.shutDown(public, cancel)
}

// acceptTime is how long connections that the system has established, and nobody has accepted, are
// accepted.
const acceptTime = 50 * time.Millisecond

// shutDown serves for --drain as before, but makes load balancers and clients leave first, so that no
// request is lost on a connection that ends. Then the system refuses connections while the server accepts
// those already established: closing the listener at once would reset them together with their
// requests. From then on requests in progress may finish: batches return at once with the items finished
// so far, and what would outlast the grace is cancelled shortly before its end, so that it gets 503.
func (s *Service) shutDown(public *httpServer, cancel func()) error {
	s.log.Info("stopping", "drain", s.Drain.String(), "grace", s.Grace.String())
	s.api.Drain()
	time.Sleep(s.Drain)
	if refuseConnections(s.listeners.public) == nil {
		time.Sleep(acceptTime)
	}
	ctx, end := context.WithTimeout(context.Background(), s.Grace)
	defer end()
	defer time.AfterFunc(s.Grace-min(time.Second, s.Grace/4), cancel).Stop()
	s.api.Stop()
	if err := public.shutDown(ctx); err != nil {
		return fmt.Errorf("some requests were cut off because they took longer than the grace of %s", s.Grace)
	}
	s.log.Info("stopped")
	return nil
}
