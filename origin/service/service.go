// Package service is the running service: [Open] starts its parts from one [Config],
// [Service.Run] serves until its context ends and then stops gracefully.
//
// The package connects the parts and has no logic of its own: package api handles
// requests, mx looks up MX records, ledger stores accounts, keys and points, wasm/host
// runs the module that computes the facts, dashboard has the pages. Files that change
// while the service runs (lists, plans, sign-up hooks) are reloaded by watch.go.
package service

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/mcp"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service/logging"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
)

// A Service is the parts of a running service.
type Service struct {
	*Config
	log         *logging.Log
	listeners   listeners
	resolver    *mx.Resolver
	probing     *resolverWatch
	ledger      *ledger.Ledger
	sealer      *store.Sealer // nil without a key
	engine      *host.Engine
	lists       *update.Keeper
	signUps     *signuphook.Registry // nil without --hooks
	webhooks    *webhook.Sender      // nil if they are off
	api         *api.Server
	connections *conn.Metrics
	cleanup     []func() // what Close calls
}

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
		s.openListeners, s.openResolver, s.openLedger, s.openModule, s.openLists, s.openHooks, s.openWebhooks, s.openAPI, s.openPages, s.openMCP,
	} {
		if err := open(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Close closes the parts that were opened, in this order: who calls a part ends before it.
func (s *Service) Close() {
	for _, end := range s.cleanup {
		end()
	}
}

// later makes Close call end.
func (s *Service) later(end func()) { s.cleanup = append(s.cleanup, end) }

func (s *Service) openResolver(context.Context) (err error) {
	s.resolver, err = mx.New(mx.Config{Servers: s.DNS, Timeout: s.DNSTimeout, Concurrency: s.DNSConcurrency, WithMX: s.KnownMX(), Strict: s.DNSStrict, Log: s.log.Logger})
	if err != nil {
		return err
	}
	s.probing = &resolverWatch{resolver: s.resolver, log: s.log.Logger, strict: s.DNSStrict, pause: resolverPause, troublePause: resolverTroublePause}
	if s.DNSStrict {
		s.verifyEarly()
	}
	s.later(s.resolver.Close)
	return nil
}

// verifyEarly asks the resolvers while the other parts open, since with --dns-strict no
// false is believed before.
func (s *Service) verifyEarly() {
	ctx, cancel := context.WithTimeout(context.Background(), resolverAsked)
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = s.resolver.Verify(ctx) }) // the watch logs it
	s.later(func() { cancel(); asking.Wait() })
}

// openLedger opens the ledger with the plans of --plans.
func (s *Service) openLedger(ctx context.Context) (err error) {
	if s.ledger, err = s.OpenLedger(ctx, ledger.WithLog(s.log.Logger)); err != nil {
		return err
	}
	s.later(func() { s.ledger.Close() })
	s.later(s.addProcessor())
	if err = s.sealSecrets(ctx); err != nil {
		return err
	}
	return StorePlans(ctx, s.ledger, s.Plans)
}

// sealSecrets seals the secrets in the database with the present key. It returns an
// error if some are sealed with a key that is not given.
func (s *Service) sealSecrets(ctx context.Context) (err error) {
	if s.sealer, err = s.Sealer(); err != nil {
		return err
	}
	changed, err := s.sealer.SealAll(ctx, s.ledger.Store())
	if changed > 0 {
		s.log.Info("secrets in the database are sealed with the present key", "rows", changed, "key_id", s.sealer.IDs()[0])
	}
	return err
}

func (s *Service) openModule(ctx context.Context) (err error) {
	if s.engine, err = s.engineAnnounced(ctx, s.log.Logger); err == nil {
		s.later(func() { s.engine.Close(context.Background()) })
	}
	return err
}

// openWebhooks starts nothing: Run sends them.
func (s *Service) openWebhooks(context.Context) error {
	if s.Dashboard == "on" && s.Webhooks == "on" {
		s.webhooks = webhook.New(s.ledger.Store(), webhook.Options{Log: s.log.Logger, Grace: s.Grace, Sealer: s.sealer})
	}
	return nil
}

func (s *Service) openAPI(context.Context) error {
	registry := s.registry()
	s.connections = conn.NewMetrics(registry)
	s.api = api.New(api.Config{
		Engine: s.engine, Ledger: api.FromLedger(s.ledger), Resolver: s.resolver, Log: s.log.Logger,
		Metrics:      api.NewMetrics(registry),
		BatchTimeout: s.BatchTimeout, EdgeSecrets: s.EdgeSecret.List(), Flags: s.Flags(), Memory: int(s.BodyMemory),
		OperatorApart: s.OperatorListen != "", SecurityTxt: s.securityTxt(), Hooks: s.signUps, Distrusted: s.resolver.Distrusted,
	})
	return nil
}

// openMCP lets assistants use the API.
func (s *Service) openMCP(context.Context) error {
	s.api.MCP = mcp.NewHTTP(mcp.HTTPOptions{Release: Release, API: s.api, Engine: s.engine,
		Panicked: func(cause any) { s.log.Error("a tool of /mcp failed", "panic", fmt.Sprintf("%T", cause)) }})
	return nil
}

// Ledger returns the service's ledger.
func (s *Service) Ledger() *ledger.Ledger { return s.ledger }

// Addr returns the address of --listen, with the port in place of 0.
func (s *Service) Addr() net.Addr { return s.listeners.public.Addr() }

// Run handles requests until ctx ends, and then stops gracefully. Each value of hangUp
// reloads the files of --lists, --lists-extra, --plans and --hooks.
func (s *Service) Run(ctx context.Context, hangUp <-chan os.Signal) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	public := s.newHTTPServer(s.listeners.public, s.api, s.MaxConnections, s.BatchTimeout+2*s.DNSTimeout) // twice: a lookup may wait for a slot as long as it may take
	public.server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 2)
	go public.serve(failed)
	operator := s.serveOperator(failed)
	defer s.watch(ctx, hangUp)()
	ProcessCollector.end(serveGrowth)
	go debug.FreeOSMemory() // the garbage of the start, such as the module's bytes: 3 MB
	s.logConfig()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The operator's server stops last: a load balancer polls /readyz meanwhile.
	defer operator()
	return s.shutDown(public, cancel)
}

// logConfig logs the configuration, without secrets.
func (s *Service) logConfig() {
	info, operator := s.engine.View().Info(), ""
	if s.listeners.operator != nil {
		operator = s.listeners.operator.Addr().String()
	}
	s.log.Info("serving", "address", s.Addr().String(), "operator_address", operator, "release", Release,
		"engine", info.Engine, "lists", info.Lists, "model", info.Model,
		"database", s.Redacted(), "dns", strings.Join(s.DNS, ","), "dns_strict", s.DNSStrict, "dns_timeout", s.DNSTimeout.String(), "dns_concurrency", s.DNSConcurrency,
		"batch_timeout", s.BatchTimeout.String(), "grace", s.Grace.String(), "typo_suggestion", s.TypoSuggestion,
		"max_connections", s.MaxConnections, "body_memory", s.BodyMemory.String(), "edge", s.EdgeSecret != "", "secret_key_ids", strings.Join(s.sealer.IDs(), ","),
		"dashboard", s.Dashboard, "webhooks", s.Webhooks, "signup", s.SignUp, "public_url", s.PublicURL, "openid_issuer", s.OpenIDIssuer,
		"module_file", s.Module, "lists_file", s.Lists, "lists_extra_file", s.ListsExtra, "lists_url", s.listsSource(), "lists_interval", s.ListsInterval.String(), "plans_file", s.Plans, "hooks_file", s.Hooks)
}

// shutDown lets requests in progress finish. Batches return at once with the items
// finished so far. Requests that would outlast the grace are cancelled shortly
// before its end, so that they get 503.
func (s *Service) shutDown(public *httpServer, cancel func()) error {
	s.log.Info("stopping", "grace", s.Grace.String())
	ctx, end := context.WithTimeout(context.Background(), s.Grace)
	defer end()
	defer time.AfterFunc(s.Grace-min(time.Second, s.Grace/4), cancel).Stop()
	s.api.Stop()
	drain(s.listeners.public)
	if err := public.shutDown(ctx); err != nil {
		return fmt.Errorf("some requests were cut off because they took longer than the grace of %s", s.Grace)
	}
	s.log.Info("stopped")
	return nil
}
