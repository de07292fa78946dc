package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mcp"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/host"
)

// mcpCmd serves checks to assistants by the Model Context Protocol.
type mcpCmd struct {
	service.ModuleFlags
	serverFlags

	Policy     string        `placeholder:"FILE|NAME" help:"Decide about each address by the policy in this file, unless a call brings its own. With --server, a NAME without dot and slash is a policy of the account (default: that of the key, if it has one)."`
	Offline    bool          `help:"Do not query DNS: mx is null."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
}

// Help is shown by --help.
func (*mcpCmd) Help() string {
	return `An assistant starts this command and talks to it over standard input and output.
It gets the tools check_email, check_emails (up to 64 addresses) and explain. With a
policy, that of --policy or one that the assistant writes, they allow, review or block.
In the configuration of most clients:

  {"mcpServers": {"addrspec": {"command": "addrspec", "args": ["mcp"]}}}`
}

// Run serves until standard input ends or the process gets a signal.
func (c *mcpCmd) Run(ctx context.Context, std streams) error {
	options, done, err := c.options(ctx, std.err)
	if err != nil {
		return err
	}
	defer done()
	fmt.Fprintf(std.err, "addrspec %s serves the Model Context Protocol on standard input and output, %s\n", service.Release, modeNames[options.Mode])
	return mcp.Serve(ctx, options, std.in, std.out)
}

var modeNames = [...]string{mcp.Offline: "offline", mcp.DNS: "with MX lookups", mcp.Service: "through a service"}

// options returns the checkers and the mode. done frees what they use.
func (c *mcpCmd) options(ctx context.Context, warnings io.Writer) (o mcp.Options, done func(), err error) {
	o.Release = service.Release
	if c.Server != "" {
		return c.remoteOptions(ctx, o, warnings)
	}
	if err := service.CheckTime("--dns-timeout", c.DNSTimeout); err != nil {
		return o, nil, service.UsageError{Err: err}
	}
	lookups, closeResolver, err := c.lookups()
	if err != nil {
		return o, nil, err
	}
	engine, err := c.Engine(ctx)
	if err != nil {
		closeResolver()
		return o, nil, err
	}
	done = func() { closeResolver(); engine.Close(context.WithoutCancel(ctx)) }
	policy, err := readPolicy(ctx, engine, c.Policy)
	if err != nil {
		done()
		return o, nil, err
	}
	if lookups != nil {
		o.Mode = mcp.DNS
	}
	o.Checker = func(ctx context.Context, q mcp.Query) (_ check.Checker, err error) {
		local := &check.Local{View: engine.View(), Flags: c.Flags(), Lookups: lookups, Policy: policy}
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

// mcpLookups is how many MX lookups run at a time: those of a call.
const mcpLookups = 64

// lookups returns what looks MX records up, nil with --offline.
func (c *mcpCmd) lookups() (lookups *check.Lookups, closeResolver func(), err error) {
	if c.Offline {
		return nil, func() {}, nil
	}
	resolver, err := mx.New(mx.Config{Servers: c.DNS, Timeout: c.DNSTimeout, Concurrency: mcpLookups, AccountConcurrency: mcpLookups})
	if err != nil {
		return nil, nil, err
	}
	return check.NewLookups(resolver, mcpLookups), resolver.Close, nil
}

func (c *mcpCmd) remoteOptions(ctx context.Context, o mcp.Options, warnings io.Writer) (mcp.Options, func(), error) {
	if c.Offline {
		return o, nil, service.UsageError{Err: errServerOffline}
	}
	service, err := c.connect(false, warnings)
	if err != nil {
		return o, nil, err
	}
	engine, closeEngine := lazily(ctx, &c.ModuleFlags)
	done := func() { service.Close(); closeEngine() }
	usual := client.Checker{Client: service}
	if err := decideBy(ctx, c.Policy, engine, &usual); err != nil {
		done()
		return o, nil, err
	}
	o.Mode = mcp.Service
	o.Checker = func(ctx context.Context, q mcp.Query) (check.Checker, error) {
		checker := usual
		checker.Details = q.Details
		return &checker, decideByCall(ctx, q, engine, &checker)
	}
	return o, done, nil
}

// decideByCall makes the policy of a call decide, if it has one: that of the account by its
// name, or the document, here.
func decideByCall(ctx context.Context, q mcp.Query, engine func() (*host.Engine, error), checker *client.Checker) error {
	switch {
	case q.PolicyName != "":
		checker.Policy, checker.Decider = q.PolicyName, nil
		return book.CheckPolicyName(q.PolicyName)
	case q.Policy == "":
		return nil
	}
	e, err := engine()
	if err != nil {
		return err
	}
	policy, err := e.NewPolicy(ctx, q.Policy)
	checker.Policy, checker.Decider = "", &check.Local{View: e.View(), Policy: policy}
	return err
}
