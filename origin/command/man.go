package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/origin/service"
)

// manCmd prints the man page. It is our own because the library for kong (mango-kong) has no
// arguments, groups, details and examples of commands.
type manCmd struct{}

// Run prints roff in the macros of man(7), for man -l.
func (*manCmd) Run(k *kong.Context, std streams) error {
	app := k.Model
	var w roff
	w.macro("TH", strings.ToUpper(app.Name), "1", "", app.Name+" "+service.Release, "User Commands")
	w.macro("SH", "NAME")
	name, _, _ := strings.Cut(app.Help, ":")
	w.text(app.Name + " - " + strings.ToLower(name[:1]) + name[1:])
	w.macro("SH", "SYNOPSIS")
	w.macro("B", app.Name+" COMMAND [OPTION]... [ARGUMENT]...")
	w.macro("SH", "DESCRIPTION")
	w.text(app.Help)
	w.macro("SH", "COMMANDS")
	for _, n := range app.Leaves(true) {
		w.command(n)
	}
	for _, s := range manSections {
		w.macro("SH", s.title)
		for _, item := range s.items {
			w.item(item[0], item[1])
		}
	}
	w.macro("SH", "EXAMPLES")
	w.examples(app.Node)
	_, err := std.out.Write(w.Bytes())
	return err
}

// A roff is a text in roff.
type roff struct{ bytes.Buffer }

func (w *roff) command(n *kong.Node) {
	w.macro("SS", n.FullPath())
	w.macro("B", "addrspec "+n.Summary())
	w.macro("PP")
	w.text(n.Help)
	if n.Detail != "" {
		w.macro("PP")
		w.text(n.Detail)
	}
	for _, arg := range n.Positional {
		w.item(arg.Summary(), arg.Help)
	}
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
		term := f.String()
		if f.Tag.Negatable != "" {
			term = "--[no-]" + f.Name
		}
		w.item(term, f.Help)
	}
	w.examples(n)
}

func (w *roff) examples(n *kong.Node) {
	for _, e := range commandExamples[n.Path()] {
		w.macro("PP")
		w.text("Example: " + e.does)
		w.macro("PP")
		w.macro("EX")
		w.text("    " + e.line)
		w.macro("EE")
	}
}

func (w *roff) macro(name string, args ...string) {
	w.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(w, ` "%s"`, strings.ReplaceAll(roffEscapes.Replace(arg), `"`, `\(dq`))
	}
	w.WriteByte('\n')
}

func (w *roff) item(term, text string) {
	w.macro("TP")
	w.macro("B", term)
	w.text(text)
}

// text writes text, a line of input a line. An empty line begins a paragraph.
func (w *roff) text(text string) {
	for line := range strings.Lines(text) {
		line = roffEscapes.Replace(strings.TrimSuffix(line, "\n"))
		switch {
		case line == "":
			line = ".PP"
		case line[0] == '.' || line[0] == '\'':
			line = `\&` + line // not a macro
		}
		w.WriteString(line + "\n")
	}
}

// roffEscapes writes characters that roff would change or that are not ASCII.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// manSections are the sections that the model does not have: terms and their texts.
var manSections = []struct {
	title string
	items [][2]string
}{
	{"EXIT STATUS", [][2]string{
		{"0", "Success."},
		{"1", "A failure. Standard error says what failed and what to do."},
		{"2", "A wrong command line, or a setting that cannot work."},
		{"3", "check found an address that --fail-on names, or lists why no entry for a domain."},
		{"4", "check found nothing of the kind, but an address with a verdict of --policy that --fail-on names."},
		{"130", "check was interrupted. Standard error says how to go on."},
	}},
	{"ENVIRONMENT", [][2]string{
		{"ADDRSPEC_<FLAG>", "The value of a flag, such as ADDRSPEC_DNS_TIMEOUT for --dns-timeout. The flag " +
			"overrides it. Give secrets like this, since other users can read command lines."},
		{"COLUMNS", "The width of help, in place of the terminal's."},
		{"XDG_CACHE_HOME", "Its directory addrspec keeps compiled machine code, so that later starts are faster; " +
			"see --cache-dir."},
	}},
	{"FILES", [][2]string{
		{"data/addrspec.db", "The default database, an SQLite file with two others beside it; see --database."},
		{"~/.cache/addrspec", "Compiled machine code. It can be deleted at any time."},
		{"/etc/resolv.conf", "The resolvers to query without --dns."},
	}},
}
