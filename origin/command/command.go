// Package command is the command line of addrspec: it parses flags, calls the package
// that does the work, and prints. [Main] is the program. Each sub-command is a type with
// a method Run; the field tags are its flags, which kong also takes from the environment.
// A file has the sub-commands of one subject.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/command/complete"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres" // databases that --database can name
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/service"
)

// cli is the command line. Every flag has an environment variable
// ADDRSPEC_<FLAG>, which the flag overrides. Help lists the commands in this order.
type cli struct {
	Check      checkCmd         `cmd:"" help:"Check addresses, files or a pipe, here or through a service."`
	Mcp        mcpCmd           `cmd:"" name:"mcp" help:"Serve checks to assistants over standard input and output (Model Context Protocol)."`
	Serve      serveCmd         `cmd:"" help:"Serve GET /v1/email/{email} and POST /v1/emails."`
	Doctor     doctorCmd        `cmd:"" help:"Look at every part of a deployment, and say what to do."`
	Hooks      hooksCmd         `cmd:"" help:"Validate and try sign-up hooks."`
	Account    accountCmd       `cmd:"" help:"Create, list and change accounts."`
	Key        keyCmd           `cmd:"" help:"Create, list and revoke API keys."`
	Policy     policyCmd        `cmd:"" help:"Set, list, show and delete the policies that decide about addresses."`
	Plan       planCmd          `cmd:"" help:"List and load plans."`
	Usage      usageCmd         `cmd:"" help:"List the points, requests and errors of accounts and keys by day."`
	Lists      listsCmd         `cmd:"" help:"Show, update and verify lists, and make a key that signs them."`
	Backup     backupCmd        `cmd:"" help:"Copy the ledger's SQLite database while the service runs, and check the copy."`
	Restore    restoreCmd       `cmd:"" help:"Put a backup in the place of the ledger's SQLite database."`
	Export     exportCmd        `cmd:"" help:"Write the ledger as text, to move it between SQLite and PostgreSQL."`
	Import     importCmd        `cmd:"" help:"Read an export into an empty ledger."`
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

// exited is the panic value with which kong's exit unwinds run after --help and --version:
// kong exits the program while it parses.
type exited int

// run parses args and runs the command. It returns the exit code: 0 for success,
// 1 for a failure, 2 for a wrong command line.
func run(ctx context.Context, args []string, std streams) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = int(r.(exited))
		}
	}()
	parser, err := newParser(ctx, std)
	if err != nil {
		fmt.Fprintln(std.err, "addrspec:", err)
		return 2
	}
	if len(args) > 0 && args[0] == complete.Command {
		words := args[1:]
		if len(words) > 1 && words[0] == "help" {
			words = words[1:]
		}
		_ = complete.Print(std.out, parser, words) // the user's line stays as it is
		return 0
	}
	command, err := parser.Parse(args)
	if err != nil {
		wrongCommandLine(std.err, err)
		return 2
	}
	err = command.Run()
	if err == nil {
		return 0
	}
	lines := strings.Split(err.Error(), "\n") // which may have words of a server or a file
	for n, line := range lines {
		lines[n] = output.Printable(line)
	}
	printed := make(chan struct{})
	go func() { fmt.Fprintln(std.err, "addrspec:", strings.Join(lines, "\n")); close(printed) }()
	select {
	case <-printed:
	case <-time.After(time.Second): // because a reader that has stalled must not keep the process
	}
	if own, ok := errors.AsType[service.ExitError](err); ok {
		return own.Code
	}
	if errors.As(err, new(service.UsageError)) {
		return 2
	}
	return 1
}

func newParser(ctx context.Context, std streams) (*kong.Kong, error) {
	parser, err := kong.New(new(cli),
		kong.Name("addrspec"), kong.Description(about),
		kong.DefaultEnvars("ADDRSPEC"), kong.Vars{"version": service.Version(), "failures": check.FailureNames()},
		kong.Writers(std.out, std.err), kong.Help(printHelp),
		kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true, WrapUpperBound: helpWidth},
		// The environment variable of a flag is in its help only if it is not ADDRSPEC_<FLAG>.
		kong.ValueFormatter(func(v *kong.Value) string {
			usual := "ADDRSPEC_" + strings.ToUpper(strings.ReplaceAll(v.Name, "-", "_"))
			if slices.Equal(v.Tag.Envs, []string{usual}) {
				return v.Help
			}
			return kong.DefaultHelpValueFormatter(v)
		}),
		kong.Exit(func(status int) { panic(exited(status)) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std))
	if err == nil {
		arrangeHelp(parser.Model.Node)
	}
	return parser, err
}

// unknownVariables returns the variables of the environment that no flag of a command has, separated by
// a space. The file of --hooks may name some, with secrets.
func unknownVariables(app *kong.Application, hooks string) string {
	known := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, f := range group {
				for _, name := range f.Envs {
					known[name] = true
				}
			}
		}
	}
	inHooks, _ := os.ReadFile(hooks) // its reader has the error
	var unknown []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "ADDRSPEC_") && !known[name] && !strings.Contains(string(inHooks), strconv.Quote(name)) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return strings.Join(unknown, " ")
}

type checkCmd struct{ check.Command }

func (c *checkCmd) Run(ctx context.Context, std streams) error {
	return c.Command.Run(ctx, check.Streams{In: std.in, Out: std.out, Err: std.err})
}

// printJSON prints a value for people and programs. What could control a terminal is escaped: it may
// be a server's.
func printJSON(out io.Writer, value any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, controls.ReplaceAllStringFunc(text.String(), func(sign string) string {
		return fmt.Sprintf(`\u%04x`, []rune(sign)[0])
	}))
	return err
}

// controls matches what encoding/json leaves: C1 controls, and signs that change the direction of text.
var controls = regexp.MustCompile(`[\x{7f}-\x{9f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}]`)

// versionCmd prints the versions that determine results, to compare deployments.
type versionCmd struct {
	service.ModuleFlags
	To string `enum:"text,json" default:"text" help:"Output format: text or json (one object)."`
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
	v := struct {
		Release string `json:"release"`
		Go      string `json:"go"`
		Engine  string `json:"engine"`
		Lists   string `json:"lists"`
		Model   string `json:"model"`
		Unicode string `json:"unicode,omitempty"` // left out with --module, which does not name it
	}{Release: service.Release, Go: runtime.Version(), Engine: info.Engine, Lists: info.Lists, Model: info.Model}
	if c.Module == "" {
		v.Unicode = idna.UnicodeVersion
	}
	if c.To == "json" {
		return printJSON(std.out, v)
	}
	lines := fmt.Sprintf("%s\nengine %s\nlists %s\nmodel %s\n", service.Version(), v.Engine, v.Lists, v.Model)
	if v.Unicode != "" {
		lines += "unicode " + v.Unicode + "\n"
	}
	_, err = io.WriteString(std.out, lines)
	return err
}
