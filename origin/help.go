package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpWidth is the longest line of help; a narrower terminal has shorter ones.
const helpWidth = 100

// commandGroups has the groups of the commands in the help, in order.
var commandGroups = []struct {
	title    string
	commands string
}{
	{"Check addresses:", "check mcp"},
	{"Run the service:", "serve doctor hooks"},
	{"Accounts and keys:", "account key plan usage"},
	{"Lists:", "lists"},
	{"Operate:", "backup restore export import dashboard completion man version help"},
}

// groupCommands sorts the commands by group. A tag on a command would give the
// group to its flags too.
func groupCommands(app *kong.Application) {
	var sorted []*kong.Node
	for _, g := range commandGroups {
		for _, name := range strings.Fields(g.commands) {
			for _, n := range app.Children {
				if n.Name == name {
					n.Group = &kong.Group{Key: g.title, Title: g.title}
					sorted = append(sorted, n)
				}
			}
		}
	}
	for _, n := range app.Children {
		if n.Group == nil {
			sorted = append(sorted, n)
		}
		for _, child := range n.Children {
			child.Group = &kong.Group{Key: "Commands:", Title: "Commands:"}
		}
	}
	app.Children = sorted
}

// flagGroups is the order of the groups of the flags of check and serve. Those of
// embedded structs would come first.
var flagGroups = []string{"Input:", "Output:", "MX records:", "Through a service:", "End and exit code:", "Listeners:", "Database:", "DNS:", "Limits:", "Log:", "Module and lists:", "Dashboard and sign-in:", "Sign-up hooks:", "security.txt:"}

// arrangeFlags sorts the flags of all commands by group, and writes the values of a
// flag that has few as its placeholder.
func arrangeFlags(n *kong.Node) {
	slices.SortStableFunc(n.Flags, func(a, b *kong.Flag) int { return cmp.Compare(groupIndex(a), groupIndex(b)) })
	for _, f := range n.Flags {
		if f.Enum != "" && f.PlaceHolder == "" {
			f.PlaceHolder = strings.ReplaceAll(f.Enum, ",", "|")
		}
	}
	for _, child := range n.Children {
		arrangeFlags(child)
	}
}

func groupIndex(f *kong.Flag) int {
	if f.Group == nil {
		return -1
	}
	return slices.Index(flagGroups, f.Group.Title)
}

// flagHelp returns the help of a flag. Its environment variable is in it only if it
// is not ADDRSPEC_<FLAG>.
func flagHelp(v *kong.Value) string {
	usual := "ADDRSPEC_" + strings.ToUpper(strings.ReplaceAll(v.Name, "-", "_"))
	if len(v.Tag.Envs) == 1 && v.Tag.Envs[0] == usual {
		return v.Help
	}
	return kong.DefaultHelpValueFormatter(v)
}

// helpOptions is how kong prints help.
var helpOptions = kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true, WrapUpperBound: helpWidth}

// printHelp prints the help of the selected command, with its examples last, so
// that they are what a terminal shows.
func printHelp(options kong.HelpOptions, c *kong.Context) error {
	node := c.Selected()
	if node == nil {
		node = c.Model.Node
	}
	if err := kong.DefaultHelpPrinter(options, c); err != nil || options.Summary {
		return err
	}
	return printExamples(c.Stdout, commandExamples[commandPath(node)])
}

func printExamples(to io.Writer, list []commandExample) error {
	for i, e := range list {
		if i == 0 {
			fmt.Fprintln(to, "\nExamples:")
		}
		if _, err := fmt.Fprintf(to, "  # %s\n  %s\n", e.does, e.line); err != nil {
			return err
		}
	}
	return nil
}

// commandPath returns the words of a command after the program's name.
func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(commandPath(n.Parent) + " " + n.Name)
}

// helpCmd prints the help of a command.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as key create."`
}

// Run prints what COMMAND --help prints.
func (c *helpCmd) Run(k *kong.Context) error {
	_, err := k.Parse(append(c.Command, "--help"))
	return usageError{err} // --help without an error does not return
}

// wrongCommandLine prints what is wrong with a command line. Without a command, or
// without the second word of one, it prints the commands that there are.
func wrongCommandLine(to io.Writer, err error) {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		fmt.Fprintf(to, "addrspec: %v\nTry 'addrspec --help'.\n", err)
		return
	}
	node := wrong.Context.Selected()
	if node == nil {
		node = wrong.Context.Model.Node
	}
	if len(node.Children) > 0 && wrong.Context.Error == nil {
		wrong.Context.Stdout = to
		_ = wrong.Context.PrintUsage(false)
		return
	}
	fmt.Fprintf(to, "addrspec: %v\nTry '%s --help'.\n", err, strings.TrimSpace("addrspec "+commandPath(node)))
}
