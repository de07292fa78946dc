// Command addrspec reports facts about email addresses, as an HTTP service
// (serve) or for a file or a pipe (check). It also manages the accounts and keys
// of the service (account, key, plan, usage).
//
// This package only parses flags and connects the parts: api handles requests, mx
// looks up MX records, ledger stores accounts, keys and points, wasm/host runs
// the module that computes the facts.
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

	"github.com/addrspec/addrspec/origin/complete"
)

// cli is the command line. Every flag has an environment variable
// ADDRSPEC_<FLAG>, which the flag overrides.
type cli struct {
	Serve      serveCmd         `cmd:"" help:"Serve GET /v1/email/{email} and POST /v1/emails."`
	Check      checkCmd         `cmd:"" help:"Check addresses, files or a pipe, here or through a service."`
	Mcp        mcpCmd           `cmd:"" name:"mcp" help:"Serve checks to assistants over standard input and output (Model Context Protocol)."`
	Account    accountCmd       `cmd:"" help:"Create, list and change accounts."`
	Key        keyCmd           `cmd:"" help:"Create, list and revoke API keys."`
	Plan       planCmd          `cmd:"" help:"List and load plans."`
	Hooks      hooksCmd         `cmd:"" help:"Validate and try sign-up hooks."`
	Usage      usageCmd         `cmd:"" help:"List the points, requests and errors of accounts and keys by day."`
	Backup     backupCmd        `cmd:"" help:"Copy the ledger's SQLite database while the service runs, and check the copy."`
	Restore    restoreCmd       `cmd:"" help:"Put a backup in the place of the ledger's SQLite database."`
	Export     exportCmd        `cmd:"" help:"Write the ledger as text, to move it between SQLite and PostgreSQL."`
	Import     importCmd        `cmd:"" help:"Read an export into an empty ledger."`
	Dashboard  dashboardCmd     `cmd:"" help:"Develop the dashboard."`
	Lists      listsCmd         `cmd:"" help:"Show, update and verify lists, and make a key that signs them."`
	Doctor     doctorCmd        `cmd:"" help:"Look at every part of a deployment, and say what to do."`
	Completion completionCmd    `cmd:"" help:"Print a script that completes commands, flags and values in a shell."`
	Man        manCmd           `cmd:"" help:"Print the man page."`
	Versions   versionCmd       `cmd:"" name:"version" help:"Print the versions of the release, the engine, the lists, the model and Unicode."`
	Help       helpCmd          `cmd:"" help:"Print the help of a command."`
	Version    kong.VersionFlag `env:"-" help:"Print the version and exit."`
}

const about = `Facts about email addresses: format, normalization, role, gibberish, provider
class, domain typo, MX. Every flag can be given as ADDRSPEC_<FLAG> in the
environment (--dns-timeout as ADDRSPEC_DNS_TIMEOUT); a flag overrides it.
The exit code is 0 for success, 1 for a failure, 2 for a wrong command line.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the standard streams of a command; a test passes its own.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run parses args and runs the command. It returns the exit code: 0 for success,
// 1 for a failure, 2 for a wrong command line.
func run(ctx context.Context, args []string, std streams) (code int) {
	if command, ok := parseCheck(ctx, args, std); ok {
		return runCommand(command, args, std, &code)
	}
	parser, err := newParser(ctx, std, &code)
	if err != nil {
		fmt.Fprintln(std.err, "addrspec:", err)
		return 2
	}
	if len(args) > 0 && args[0] == complete.Command {
		return printCandidates(std.out, parser.Model, args[1:])
	}
	defer recoverExit()
	command, err := parse(parser, args)
	if err != nil {
		wrongCommandLine(std.err, err)
		return 2
	}
	return runCommand(command, args, std, &code)
}

// runCommand runs a command, which may set code.
func runCommand(command *kong.Context, args []string, std streams, code *int) int {
	if err := command.Run(commandLine(args)); err != nil {
		report(std.err, err)
		return exitCode(err)
	}
	return *code
}

func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	args, err := joinNegative(parser.Model, args)
	if err != nil {
		return nil, err
	}
	return parser.Parse(args)
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	if own, ok := errors.AsType[exitError](err); ok {
		return own.code
	}
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// report prints why a command failed. It waits at most a second, so that a
// stalled reader of the output does not keep the process from exiting.
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

// exited is the panic value that unwinds run after --help and --version: kong
// exits the program while it parses.
type exited struct{}

func recoverExit() {
	if r := recover(); r != nil && r != (exited{}) {
		panic(r)
	}
}

func newParser(ctx context.Context, std streams, code *int) (*kong.Kong, error) {
	return newParserOf(ctx, new(cli), std, code)
}

// newParserOf returns a parser of the commands in a struct.
func newParserOf(ctx context.Context, commands any, std streams, code *int, more ...kong.Option) (*kong.Kong, error) {
	options := append([]kong.Option{
		kong.Name("addrspec"), kong.Description(about),
		kong.DefaultEnvars("ADDRSPEC"), kong.Vars{"version": version(), "failures": failureNames()},
		kong.Writers(std.out, std.err), kong.ConfigureHelp(helpOptions), kong.Help(printHelp), kong.ValueFormatter(flagHelp),
		kong.Exit(func(status int) { *code = status; panic(exited{}) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std),
	}, more...)
	parser, err := kong.New(commands, options...)
	if err == nil {
		groupCommands(parser.Model)
		arrangeFlags(parser.Model.Node)
	}
	return parser, err
}
