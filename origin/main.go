// Command addrspec states facts about email addresses: as an HTTP service
// (serve), for a file or a pipe (check), and it keeps the service's accounts
// and keys (account, key).
//
// This package reads flags and wires rooms together; what they do is theirs:
// api answers requests, mx asks DNS, ledger keeps keys and points, wasm/host
// runs the module that states the facts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// cli is the command line. Every flag has an environment variable
// ADDRSPEC_<FLAG>; the flag wins.
type cli struct {
	Serve   serveCmd         `cmd:"" help:"Answer GET /v1/email/{email} and POST /v1/emails."`
	Check   checkCmd         `cmd:"" help:"Check addresses of a file, a pipe or the command line; no server, no key."`
	Account accountCmd       `cmd:"" help:"Create, list and change accounts."`
	Key     keyCmd           `cmd:"" help:"Create, list and revoke API keys."`
	Plan    planCmd          `cmd:"" help:"List and load plans."`
	Usage   usageCmd         `cmd:"" help:"List the points, requests and errors of accounts and keys by day."`
	Doctor  doctorCmd        `cmd:"" help:"Say what is wrong with a deployment: database, clock, resolver, module, lists."`
	Version kong.VersionFlag `env:"-" help:"Print the version and leave."`
}

const about = `Facts about email addresses: format, normalization, role, gibberish, provider
class, domain typo, MX. Every flag can be given as ADDRSPEC_<FLAG> in the
environment (--dns-timeout is ADDRSPEC_DNS_TIMEOUT); the flag wins.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the three that a command talks through, so that tests start the
// very same program.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run parses args and runs the command; the result is the exit code: 0 done,
// 1 failed, 2 the command line is wrong.
func run(ctx context.Context, args []string, std streams) (code int) {
	parser, err := newParser(ctx, std, &code)
	if err != nil {
		fmt.Fprintln(std.err, "addrspec:", err)
		return 2
	}
	defer recoverExit()
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(std.err, "addrspec: %v\nTry 'addrspec --help'.\n", err)
		return 2
	}
	if err := command.Run(); err != nil {
		report(std.err, err)
		if errors.As(err, new(usageError)) {
			return 2
		}
		return 1
	}
	return code
}

// report prints why a command failed. The reader of a pipe may have stalled,
// which must not keep the process from its end.
func report(to io.Writer, err error) {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		fmt.Fprintln(to, "addrspec:", err)
	}()
	select {
	case <-printed:
	case <-time.After(time.Second):
	}
}

// exited unwinds run after --help or --version, which end the program in the
// midst of parsing.
type exited struct{}

func recoverExit() {
	if r := recover(); r != nil && r != (exited{}) {
		panic(r)
	}
}

func newParser(ctx context.Context, std streams, code *int) (*kong.Kong, error) {
	return kong.New(new(cli),
		kong.Name("addrspec"), kong.Description(about), kong.UsageOnError(),
		kong.DefaultEnvars("ADDRSPEC"), kong.Vars{"version": version()},
		kong.Writers(std.out, std.err), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(status int) { *code = status; panic(exited{}) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std))
}
