package command

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/origin/command/complete"
	"github.com/addrspec/addrspec/origin/command/manpage"
	"github.com/addrspec/addrspec/origin/service"
)

// completionCmd prints the script of a shell.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(_ context.Context, std streams) error {
	script, err := complete.Script(c.Shell)
	if err != nil {
		return err
	}
	_, err = std.out.Write(script)
	return err
}

// printCandidates serves a shell that completes a command line. It prints nothing
// if it cannot, so that the user's line stays as it is.
func printCandidates(to io.Writer, app *kong.Application, words []string) (code int) {
	if len(words) > 1 && words[0] == "help" {
		words = words[1:]
	}
	if err := complete.Print(to, app, words); err != nil {
		return 1
	}
	return 0
}

// manCmd prints the man page.
type manCmd struct{}

// Run prints roff, for man -l.
func (*manCmd) Run(k *kong.Context, std streams) error {
	page := manpage.Page{App: k.Model, Release: service.Release, Examples: manExamples, Sections: manSections}
	return page.Write(std.out)
}

// manExamples returns the examples of a command as the man page has them.
func manExamples(n *kong.Node) (list []manpage.Example) {
	for _, e := range commandExamples[commandPath(n)] {
		list = append(list, manpage.Example{Does: e.does, Line: e.line})
	}
	return list
}

// manSections are the sections that the model does not have.
var manSections = []manpage.Section{
	{Title: "EXIT STATUS", Items: []manpage.Item{
		{Term: "0", Text: "Success."},
		{Term: "1", Text: "A failure. Standard error says what failed and what to do."},
		{Term: "2", Text: "A wrong command line, or a setting that cannot work."},
		{Term: "3", Text: "check found an address that --fail-on names, or lists why no entry for a domain."},
		{Term: "4", Text: "check found nothing of the kind, but an address with a verdict of --policy that --fail-on names."},
		{Term: "130", Text: "check was interrupted. Standard error says how to go on."},
	}},
	{Title: "ENVIRONMENT", Items: []manpage.Item{
		{Term: "ADDRSPEC_<FLAG>", Text: "The value of a flag, such as ADDRSPEC_DNS_TIMEOUT for --dns-timeout. The flag overrides it. Give secrets like this, since other users can read command lines."},
		{Term: "COLUMNS", Text: "The width of help, in place of the terminal's."},
		{Term: "XDG_CACHE_HOME", Text: "Its directory addrspec keeps compiled machine code, so that later starts are faster; see --cache-dir."},
	}},
	{Title: "FILES", Items: []manpage.Item{
		{Term: "data/addrspec.db", Text: "The default database, an SQLite file with two others beside it; see --database."},
		{Term: "~/.cache/addrspec", Text: "Compiled machine code. It can be deleted at any time."},
		{Term: "/etc/resolv.conf", Text: "The resolvers to query without --dns."},
	}},
}
