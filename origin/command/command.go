// Package command is the command line of addrspec: it parses flags, calls the package
// that does the work, and prints. [Main] is the program. Each sub-command is a type with
// a method Run; the field tags are its flags, which kong also takes from the environment.
// A file has the sub-commands of one subject.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/origin/command/complete"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres" // databases that --database can name
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/service"
)

// cli is the command line. Every flag has an environment variable
// ADDRSPEC_<FLAG>, which the flag overrides.
type cli struct {
	Serve      serveCmd         `cmd:"" help:"Serve GET /v1/email/{email} and POST /v1/emails."`
	Check      checkCmd         `cmd:"" help:"Check addresses, files or a pipe, here or through a service."`
	Mcp        mcpCmd           `cmd:"" name:"mcp" help:"Serve checks to assistants over standard input and output (Model Context Protocol)."`
	Account    accountCmd       `cmd:"" help:"Create, list and change accounts."`
	Key        keyCmd           `cmd:"" help:"Create, list and revoke API keys."`
	Policy     policyCmd        `cmd:"" help:"Set, list, show and delete the policies that decide about addresses."`
	Plan       planCmd          `cmd:"" help:"List and load plans."`
	Hooks      hooksCmd         `cmd:"" help:"Validate and try sign-up hooks."`
	Usage      usageCmd         `cmd:"" help:"List the points, requests and errors of accounts and keys by day."`
	Backup     backupCmd        `cmd:"" help:"Copy the ledger's SQLite database while the service runs, and check the copy."`
	Restore    restoreCmd       `cmd:"" help:"Put a backup in the place of the ledger's SQLite database."`
	Export     exportCmd        `cmd:"" help:"Write the ledger as text, to move it between SQLite and PostgreSQL."`
	Import     importCmd        `cmd:"" help:"Read an export into an empty ledger."`
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

// Main runs the command line of this process, and exits.
func Main() {
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
	if command, ok := parseAlone(ctx, args, std); ok {
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
	if errors.As(err, new(service.UsageError)) {
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
		kong.DefaultEnvars("ADDRSPEC"), kong.Vars{"version": service.Version(), "failures": failureNames()},
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

// parseAlone parses a command line by the parser of its command alone: to learn all
// commands would take kong almost half of the processor time of account create.
// It returns false for what that parser cannot do, such as help and the report of an
// error, and prints nothing: then the parser of all commands has to read the line.
func parseAlone(ctx context.Context, args []string, std streams) (command *kong.Context, ok bool) {
	if len(args) == 0 {
		return nil, false
	}
	commands := commandAlone(args[0])
	if commands == nil {
		return nil, false
	}
	defer recoverExit() // from a flag that prints help
	parser, err := newParserOf(ctx, commands, std, new(int), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, false
	}
	command, err = parse(parser, args)
	return command, err == nil
}

// commandAlone returns a struct with the field of cli that is the command; nil if there is
// none, or if the command prints something about all others.
func commandAlone(name string) any {
	if name == "help" || name == "man" {
		return nil
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[cli]()) {
		_, isCommand := field.Tag.Lookup("cmd")
		if isCommand && name == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			return reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()
		}
	}
	return nil
}

// joinNegative writes "--points -5" as "--points=-5". kong takes an argument that
// begins with a hyphen for a flag, and no flag here begins with a digit. Without
// it the error would be about an unknown flag, not about the number.
func joinNegative(app *kong.Application, args []string) (joined []string, err error) {
	values := valueFlags(app.Node, nil)
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...), nil
		}
		switch {
		case !negative.MatchString(arg):
			joined = append(joined, arg)
		case i > 0 && slices.Contains(values, args[i-1]):
			joined[len(joined)-1] += "=" + arg
		default:
			return nil, fmt.Errorf("unexpected negative number %s; write -- before it if it is a name", arg)
		}
	}
	return joined, nil
}

// negative matches numbers, sizes and times such as -5, -1.5h and -64MiB.
var negative = regexp.MustCompile(`^-[0-9.][0-9A-Za-z.,_]*$`)

// valueFlags appends the flags of a node and its commands that have a value.
func valueFlags(n *kong.Node, list []string) []string {
	for _, f := range n.Flags {
		if !f.IsBool() {
			list = append(list, "--"+f.Name)
		}
		for _, alias := range f.Aliases {
			list = append(list, "--"+strings.TrimPrefix(alias, "--"))
		}
	}
	for _, child := range n.Children {
		list = valueFlags(child, list)
	}
	return list
}

// versionCmd prints the versions that determine results, to compare deployments.
type versionCmd struct {
	service.ModuleFlags
	To string `enum:"text,json" default:"text" help:"Output format: text or json (one object)."`
}

// shownVersions are what --to json prints.
type shownVersions struct {
	Release string `json:"release"`
	Go      string `json:"go"`
	Engine  string `json:"engine"`
	Lists   string `json:"lists"`
	Model   string `json:"model"`
	Unicode string `json:"unicode,omitempty"` // left out with --module, which does not name it
}

// Run prints a line for each version, of the lists of --lists if it is given. The
// first line is that of --version.
func (c *versionCmd) Run(ctx context.Context, std streams) error {
	engine, err := c.Engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	info := engine.View().Info()
	v := shownVersions{Release: service.Release, Go: runtime.Version(), Engine: info.Engine, Lists: info.Lists, Model: info.Model}
	if c.Module == "" {
		v.Unicode = idna.UnicodeVersion
	}
	if c.To == "json" {
		encoder := json.NewEncoder(std.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	return v.print(std.out)
}

func (v *shownVersions) print(out io.Writer) error {
	lines := fmt.Sprintf("%s\nengine %s\nlists %s\nmodel %s\n", service.Version(), v.Engine, v.Lists, v.Model)
	if v.Unicode != "" {
		lines += "unicode " + v.Unicode + "\n"
	}
	_, err := io.WriteString(out, lines)
	return err
}
