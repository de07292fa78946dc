package command

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mcp"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/host"
)

type mcpCmd struct {
	service.ModuleFlags
	check.ServerFlags

	Policy     string        `placeholder:"FILE|NAME" help:"Decide about each address by the policy in this file, unless a call brings its own. With --server, a NAME without dot and slash is a policy of the account (default: that of the key, if it has one)."`
	Offline    bool          `help:"Do not query DNS: mx is null."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
}

func (*mcpCmd) Help() string {
	return `An assistant starts this command and talks to it over standard input and output.
It gets the tools check_email, check_emails (up to 64 addresses) and explain. With a
policy, that of --policy or one that the assistant writes, they allow, review or block.
In the configuration of most clients:

  {"mcpServers": {"addrspec": {"command": "addrspec", "args": ["mcp"]}}}`
}

func (c *mcpCmd) Run(ctx context.Context, std streams) error {
	begin := c.local
	if c.Server != "" {
		begin = c.remote
	}
	options, done, err := begin(ctx, std.err)
	if err != nil {
		return err
	}
	defer done()
	options.Release = service.Release
	mode := map[mcp.Mode]string{mcp.Offline: "offline", mcp.DNS: "with MX lookups",
		mcp.Service: "through a service"}[options.Mode]
	fmt.Fprintf(std.err, "addrspec %s serves the Model Context Protocol on standard input and output, %s\n",
		service.Release, mode)
	return mcp.Serve(ctx, options, std.in, std.out)
}

// local returns the mode and checkers in this process. done frees what they use.
func (c *mcpCmd) local(ctx context.Context, _ io.Writer) (o mcp.Options, done func(), err error) {
	if err := service.CheckTime("--dns-timeout", c.DNSTimeout); err != nil {
		return o, nil, service.UsageError{Err: err}
	}
	engine, err := c.Engine(ctx)
	if err != nil {
		return o, nil, err
	}
	done = func() { engine.Close(context.WithoutCancel(ctx)) }
	policy, err := check.ReadPolicy(ctx, engine, c.Policy)
	if err != nil {
		done()
		return o, nil, err
	}
	var lookups *pipeline.Lookups
	if !c.Offline {
		const most = 64 // MX lookups at a time: as many as a call has addresses
		resolver, err := mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: most,
			AccountConcurrency: most})
		if err != nil {
			done()
			return o, nil, err
		}
		done = func() { resolver.Close(); engine.Close(context.WithoutCancel(ctx)) }
		o.Mode, lookups = mcp.DNS, pipeline.NewLookups(resolver, most)
	}
	o.Checker = func(ctx context.Context, q mcp.Query) (_ pipeline.Checker, err error) {
		local := &pipeline.Local{View: engine.View(), Flags: c.Flags(), Lookups: lookups, Policy: policy}
		if q.Details {
			local.Flags |= host.Details
		}
		if q.Policy != "" {
			local.Policy, err = engine.NewPolicy(ctx, q.Policy)
		}
		return local, err
	}
	return o, done, nil
}

// remote returns checkers that use the service of --server. The policy of a call decides, if
// the call has a policy: a name of a policy of the account, or a document, which decides here.
func (c *mcpCmd) remote(ctx context.Context, warnings io.Writer) (o mcp.Options, done func(), err error) {
	if c.Offline {
		return o, nil, service.UsageError{Err: check.ErrServerOffline}
	}
	service, err := c.Connect(warnings)
	if err != nil {
		return o, nil, err
	}
	// Few sessions need the module, which is freed with the process.
	engine := sync.OnceValues(func() (*host.Engine, error) { return c.Engine(ctx) })
	var usual client.Checker
	if err := check.DecideBy(ctx, c.Policy, engine, &usual); err != nil {
		return o, nil, err
	}
	o.Mode = mcp.Service
	o.Checker = func(ctx context.Context, q mcp.Query) (pipeline.Checker, error) {
		checker := client.Checker{Client: service, Details: q.Details, Policy: usual.Policy, Decider: usual.Decider}
		switch {
		case q.PolicyName != "":
			checker.Policy, checker.Decider = q.PolicyName, nil
			return &checker, book.CheckPolicyName(q.PolicyName)
		case q.Policy != "":
			e, err := engine()
			if err != nil {
				return nil, err
			}
			policy, err := e.NewPolicy(ctx, q.Policy)
			checker.Policy, checker.Decider = "", &pipeline.Local{View: e.View(), Policy: policy}
			return &checker, err
		}
		return &checker, nil
	}
	return o, service.Close, nil
}
