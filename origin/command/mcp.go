package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/mcp"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/host"
)

// mcpCmd serves checks to assistants by the Model Context Protocol.
type mcpCmd struct {
	service.ModuleFlags
	serverFlags

	Offline    bool          `help:"Do not query DNS: mx is null."`
	DNS        []string      `placeholder:"HOST:PORT" help:"Recursive resolvers to query (default: those of /etc/resolv.conf)."`
	DNSTimeout time.Duration `name:"dns-timeout" default:"5s" help:"The longest time of one MX lookup (${default})."`
}

// Help is shown by --help.
func (*mcpCmd) Help() string {
	return `An assistant starts this command and talks to it over standard input and output.
It gets the tools check_email, check_emails (up to 64 addresses) and explain.
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
		return c.remoteOptions(o, warnings)
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
	if lookups != nil {
		o.Mode = mcp.DNS
	}
	o.Checker = &check.Local{View: engine.View(), Flags: c.Flags(), Lookups: lookups}
	o.Detailed = &check.Local{View: engine.View(), Flags: c.Flags() | host.Details, Lookups: lookups}
	return o, func() { closeResolver(); engine.Close(context.WithoutCancel(ctx)) }, nil
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

func (c *mcpCmd) remoteOptions(o mcp.Options, warnings io.Writer) (mcp.Options, func(), error) {
	if c.Offline {
		return o, nil, service.UsageError{Err: errServerOffline}
	}
	service, err := c.connect(false, warnings)
	if err != nil {
		return o, nil, err
	}
	o.Mode = mcp.Service
	o.Checker = &client.Checker{Client: service}
	o.Detailed = &client.Checker{Client: service, Details: true}
	return o, service.Close, nil
}
