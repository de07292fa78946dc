// Package manpage writes the man page of a kong model, in the macros of man(7).
//
// It is our own because the library for kong (mango-kong) has no arguments, groups,
// details and examples of commands.
package manpage

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// A Page is one man page for a program and all its commands.
type Page struct {
	App      *kong.Application
	Release  string
	Examples func(*kong.Node) []Example
	Sections []Section // after the commands
}

// An Example is a command line and what it does.
type Example struct{ Does, Line string }

// A Section is a list of terms that are explained.
type Section struct {
	Title string
	Items []Item
}

// An Item is one of them.
type Item struct{ Term, Text string }

// Write writes the page.
func (p Page) Write(to io.Writer) error {
	w := &roff{Writer: bufio.NewWriter(to)}
	w.macro("TH", strings.ToUpper(p.App.Name), "1", "", p.App.Name+" "+p.Release, "User Commands")
	w.section("NAME")
	name, _, _ := strings.Cut(p.App.Help, ":")
	w.text(p.App.Name + " - " + strings.ToLower(name[:1]) + name[1:])
	w.section("SYNOPSIS")
	w.macro("B", p.App.Name+" COMMAND [OPTION]... [ARGUMENT]...")
	w.section("DESCRIPTION")
	w.text(p.App.Help)
	w.section("COMMANDS")
	p.commands(w, p.App.Node)
	for _, s := range p.Sections {
		w.section(s.Title)
		for _, item := range s.Items {
			w.item(item.Term, item.Text)
		}
	}
	w.section("EXAMPLES")
	p.examples(w, p.App.Node)
	return w.Flush()
}

// commands writes the commands below a node, in the order of the help.
func (p Page) commands(w *roff, n *kong.Node) {
	for _, child := range n.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			p.command(w, child)
		default:
			p.commands(w, child)
		}
	}
}

// command writes one command with its arguments, flags and examples.
func (p Page) command(w *roff, n *kong.Node) {
	w.macro("SS", n.FullPath())
	w.macro("B", p.App.Name+" "+n.Summary())
	w.macro("PP")
	w.text(n.Help)
	if n.Detail != "" {
		w.macro("PP")
		w.text(n.Detail)
	}
	for _, arg := range n.Positional {
		w.item(arg.Summary(), arg.Help)
	}
	p.flags(w, n)
	p.examples(w, n)
}

// flags writes the flags of a command, without those of every command.
func (p Page) flags(w *roff, n *kong.Node) {
	group := ""
	for _, f := range n.Flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		if f.Group != nil && f.Group.Title != group {
			group = f.Group.Title
			w.macro("PP")
			w.macro("I", group)
		}
		w.item(flagName(f), f.Help)
	}
}

func flagName(f *kong.Flag) string {
	if f.Tag.Negatable != "" {
		return "--[no-]" + f.Name
	}
	return f.String()
}

// examples writes the examples of a node as lines to copy.
func (p Page) examples(w *roff, n *kong.Node) {
	for _, e := range p.Examples(n) {
		w.macro("PP")
		w.text("Example: " + e.Does)
		w.macro("PP")
		w.macro("EX")
		w.text("    " + e.Line)
		w.macro("EE")
	}
}

// A roff is a writer of roff. Its errors are reported by Flush.
type roff struct{ *bufio.Writer }

// macro writes a macro with its arguments, quoted.
func (w *roff) macro(name string, args ...string) {
	fmt.Fprint(w, ".", name)
	for _, arg := range args {
		fmt.Fprintf(w, ` "%s"`, strings.ReplaceAll(escape(arg), `"`, `\(dq`))
	}
	fmt.Fprintln(w)
}

func (w *roff) section(title string) { w.macro("SH", title) }

// item writes a term and its text, indented.
func (w *roff) item(term, text string) {
	w.macro("TP")
	w.macro("B", term)
	w.text(text)
}

// text writes text, a line of input a line. An empty line begins a paragraph.
func (w *roff) text(text string) {
	for line := range strings.Lines(text) {
		line = escape(strings.TrimSuffix(line, "\n"))
		switch {
		case line == "":
			line = ".PP"
		case line[0] == '.' || line[0] == '\'':
			line = `\&` + line // not a macro
		}
		fmt.Fprintln(w, line)
	}
}

// escape writes characters that roff would change or that are not ASCII.
func escape(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)
