package main

import (
	"errors"
	"fmt"
	"io"
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
	{"Run the service:", "serve doctor"},
	{"Accounts and keys:", "account key plan usage"},
	{"Lists:", "lists"},
	{"Operate:", "backup restore export import dashboard completion man version help"},
}

// groupCommands gives the commands their groups. A tag on a command would give the
// group to its flags too.
func groupCommands(app *kong.Application) {
	for _, g := range commandGroups {
		group := &kong.Group{Key: g.title, Title: g.title}
		for _, command := range strings.Fields(g.commands) {
			if i := indexOf(app.Children, command); i >= 0 {
				app.Children[i].Group = group
			}
		}
	}
}

func indexOf(nodes []*kong.Node, name string) int {
	for i, n := range nodes {
		if n.Name == name {
			return i
		}
	}
	return -1
}

// helpOptions is how kong prints help.
var helpOptions = kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: helpWidth}

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
	return printExamples(c.Stdout, examples[commandPath(node)])
}

func printExamples(to io.Writer, list []example) error {
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
