package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/result"
)

// hooksCmd has the commands for sign-up hooks.
type hooksCmd struct {
	Check hooksCheckCmd `cmd:"" help:"Validate a file of sign-up hooks, and try an address against their policies."`
}

// hooksCheckCmd validates a file as serve does. It charges nothing.
type hooksCheckCmd struct {
	service.ModuleFlags

	File       string        `arg:"" type:"path" help:"The file of serve's --hooks."`
	Address    string        `arg:"" optional:"" help:"An address to try. Nothing is charged."`
	Hook       string        `placeholder:"NAME" help:"Try this hook only."`
	Offline    bool          `help:"Do not query DNS: every domain counts as one with MX records, and only the lists know what is disposable."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
}

// Help is shown by --help.
func (*hooksCheckCmd) Help() string {
	return `The secrets are read, too, so run it with the service's environment. With an
address, the line of each hook is the body that it returns. The exit code is 0 also if
the response is deny. origin/deploy/hooks.md explains the file.`
}

// Run prints a line for each hook.
func (c *hooksCheckCmd) Run(ctx context.Context, std streams) error {
	set, err := signuphook.Load(c.File)
	if err != nil {
		return err
	}
	hooks := set.Hooks()
	if c.Hook != "" {
		h := set.Find(c.Hook)
		if h == nil {
			return service.UsageError{Err: fmt.Errorf("--hook %.70q: the file has no such hook", c.Hook)}
		}
		hooks = []*signuphook.Hook{h}
	}
	if c.Address == "" {
		return listHooks(std.out, hooks)
	}
	return c.try(ctx, std.out, hooks)
}

func listHooks(out io.Writer, hooks []*signuphook.Hook) error {
	for _, h := range hooks {
		if _, err := fmt.Fprintf(out, "/v1/hooks/%s: ok, %s; %s pays\n", h.Name, h.Summary(), h.Account); err != nil {
			return err
		}
	}
	return nil
}

// try prints what each hook responds about the address.
func (c *hooksCheckCmd) try(ctx context.Context, out io.Writer, hooks []*signuphook.Hook) error {
	facts, err := c.facts(ctx)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		resp := h.Response(h.Policy.Judge(facts), signuphook.Call{})
		if _, err := fmt.Fprintf(out, "/v1/hooks/%s: %s\n", h.Name, resp); err != nil {
			return err
		}
	}
	return nil
}

// facts checks the address.
func (c *hooksCheckCmd) facts(ctx context.Context) (*result.Result, error) {
	if err := service.CheckTime("--dns-timeout", c.DNSTimeout); err != nil {
		return nil, service.UsageError{Err: err}
	}
	engine, err := c.Engine(ctx)
	if err != nil {
		return nil, err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	local := &check.Local{View: engine.View()}
	if !c.Offline {
		resolver, err := mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: 1, AccountConcurrency: 1})
		if err != nil {
			return nil, err
		}
		defer resolver.Close()
		local.Lookups = check.NewLookups(resolver, 1)
	}
	return c.checkWith(ctx, local)
}

func (c *hooksCheckCmd) checkWith(ctx context.Context, local *check.Local) (*result.Result, error) {
	outcomes := make([]check.Outcome, 1)
	if err := local.Check(ctx, []check.Record{{Email: c.Address}}, outcomes); err != nil {
		return nil, err
	}
	if outcomes[0].Code != "" {
		return nil, errors.New(outcomes[0].Message)
	}
	r, err := result.Parse(outcomes[0].JSON)
	if err != nil {
		return nil, errors.New("the result of the module cannot be read")
	}
	if c.Offline {
		r.MX = true
	}
	return &r, nil
}
