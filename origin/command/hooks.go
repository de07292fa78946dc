package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

type hooksCmd struct {
	Check hooksCheckCmd `cmd:"" help:"Validate a file of sign-up hooks, and try an address against their policies."`
}

// hooksCheckCmd validates a file as serve does. It charges nothing.
type hooksCheckCmd struct {
	service.ModuleFlags

	File       string        `arg:"" type:"path" help:"The file of serve's --hooks."`
	Address    string        `arg:"" optional:"" help:"An address to try. Nothing is charged."`
	Database   string        `placeholder:"URL" help:"The ledger's database, to see whether the accounts that pay exist."`
	Hook       string        `placeholder:"NAME" help:"Try this hook only."`
	Offline    bool          `help:"Do not query DNS: every domain counts as one with MX records, and only the lists know what is disposable."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
}

func (*hooksCheckCmd) Help() string {
	return `The secrets and policies are read, too, so run it with the service's environment. Whether
the accounts exist is known with --database only. With an address, the line of each hook is the body that it returns. The exit code is 0 also if
the response is deny.
origin/deploy/hooks.md explains the file.`
}

func (c *hooksCheckCmd) Run(ctx context.Context, std streams) error {
	engine, err := c.Engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	set, err := signuphook.Load(ctx, engine, c.File)
	if err != nil {
		return err
	}
	if c.Database != "" {
		database := service.DatabaseFlag{Database: c.Database}
		err = database.WithLedger(ctx, func(l *ledger.Ledger) error { return set.CheckAccounts(ctx, l) })
		if err != nil {
			return err
		}
	}
	hooks := set.Hooks()
	if c.Hook != "" {
		h := set.Find(c.Hook)
		if h == nil {
			return service.UsageError{Err: fmt.Errorf("--hook %.70q: the file has no such hook", c.Hook)}
		}
		hooks = []*signuphook.Hook{h}
	}
	if c.Address != "" {
		return c.try(ctx, std.out, engine.View(), hooks)
	}
	for _, h := range hooks {
		fmt.Fprintf(std.out, "/v1/hooks/%s: ok, %s; %s pays\n", h.Name, h.Summary(), h.Account)
	}
	return nil
}

func (c *hooksCheckCmd) try(ctx context.Context, out io.Writer, view *host.View, hooks []*signuphook.Hook) error {
	if err := service.CheckTime("--dns-timeout", c.DNSTimeout); err != nil {
		return service.UsageError{Err: err}
	}
	lookUp := func(context.Context, string, bool) (host.Lookup, error) { return host.Lookup{MX: true}, nil }
	if !c.Offline {
		resolver, err := mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: 1, AccountConcurrency: 1})
		if err != nil {
			return err
		}
		defer resolver.Close()
		lookUp = func(ctx context.Context, domain string, address bool) (host.Lookup, error) {
			ask := resolver.Lookup
			if address {
				ask = resolver.LookupAddress
			}
			r, err := ask(ctx, 1, domain)
			return r.Lookup(), err
		}
	}
	for _, h := range hooks {
		call := signuphook.Call{Email: c.Address}
		facts, err := h.Check(ctx, view, &call)
		if err != nil {
			return err
		}
		v, err := h.Decide(ctx, view, c.Address, &facts, lookUp)
		if failed, ok := errors.AsType[*signuphook.LookupError](err); ok {
			_, message := mx.ItemError(failed.Err, facts.Host)
			return fmt.Errorf("%s: the hook %s decides by on_error", message, h.Name)
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "/v1/hooks/%s: %s\n", h.Name, h.Response(v, call)); err != nil {
			return err
		}
	}
	return nil
}
