package main

import (
	"context"
	"log/slog"
	"net"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/listupdate"
	"github.com/addrspec/addrspec/origin/logging"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
)

// origin is the parts of a running service.
type origin struct {
	log      *logging.Log
	api      *api.Server
	engine   *host.Engine
	lists    *listupdate.Keeper
	ledger   *ledger.Ledger
	resolver *mx.Resolver
	probing  *resolverWatch
	bodies   *api.MemoryBudget
	webhooks *webhook.Sender      // nil if they are off
	signUps  *signuphook.Registry // nil without --hooks
}

func (o *origin) close() {
	o.resolver.Close()
	o.ledger.Close()
	o.engine.Close(context.Background())
}

// open starts the parts. The resolver and the database, which fail fast, come
// before the module, which may have to be compiled.
func (c *serveCmd) open(ctx context.Context, log *logging.Log, at net.Addr) (_ *origin, err error) {
	o := &origin{log: log}
	if o.resolver, err = mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: c.DNSConcurrency}); err != nil {
		return nil, err
	}
	o.probing = &resolverWatch{resolver: o.resolver, log: log.Logger, pause: probePause}
	if o.ledger, err = c.openLedger(ctx, ledger.WithLog(log.Logger)); err != nil {
		o.resolver.Close()
		return nil, err
	}
	if err = storePlans(ctx, o.ledger, c.Plans); err == nil {
		o.engine, err = c.engineAnnounced(ctx, log.Logger)
	}
	if err != nil {
		o.resolver.Close()
		o.ledger.Close()
		return nil, err
	}
	if o.lists, err = c.startLists(ctx, log.Logger, o.engine); err != nil {
		o.close()
		return nil, err
	}
	if o.signUps, err = c.signUpHooks(ctx, log.Logger, o.ledger); err != nil {
		o.close()
		return nil, err
	}
	o.bodies = api.NewMemoryBudget(int64(c.BodyMemory))
	if c.Dashboard == "on" && c.Webhooks == "on" {
		o.webhooks = webhook.New(o.ledger.Store(), webhook.Options{Log: log.Logger, Grace: c.Grace})
	}
	o.api = api.New(api.Config{
		Engine: o.engine, Ledger: api.FromLedger(o.ledger), Resolver: o.resolver, Log: log.Logger,
		Metrics:      api.NewMetrics(registry(o)),
		BatchTimeout: c.BatchTimeout, EdgeSecrets: c.EdgeSecret.list(), Flags: c.flags(), Memory: o.bodies,
		OperatorApart: c.OperatorListen != "", SecurityTxt: c.securityTxt(), Hooks: o.signUps,
	})
	if o.api.Pages, err = c.pages(o, log.Logger, at); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// hooks returns what owners manage their webhooks with, which works where the
// messages are sent by other replicas too.
func (o *origin) hooks(log *slog.Logger) *webhook.Sender {
	if o.webhooks != nil {
		return o.webhooks
	}
	return webhook.New(o.ledger.Store(), webhook.Options{Log: log})
}

// runWebhooks sends webhooks, if they are on, until ctx ends or stop is called.
// stop returns once attempts under way have ended.
func (o *origin) runWebhooks(ctx context.Context) (stop func()) {
	if o.webhooks == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.webhooks.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
