package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/service/logging"
)

// serveCmd runs the service.
type serveCmd struct {
	service.Config

	Log  logging.Form `group:"Log:" enum:"json,text" default:"json" help:"Format of the log on standard error: json or text."`
	Demo bool         `group:"Database:" help:"Create a demo account at the first start and print a curl line with its key."`
}

// Run serves until ctx ends, and then stops gracefully.
func (c *serveCmd) Run(ctx context.Context, std streams) error {
	service.IgnoreBrokenPipe()
	hangUp, stop := service.HangUps()
	defer stop()
	log := logging.Open(std.err, c.Log)
	defer log.Close()
	s, err := service.Open(ctx, &c.Config, log)
	if err != nil {
		return err
	}
	defer s.Close()
	// A signal that ends the announcement ends the service below, gracefully.
	if err := c.announce(ctx, std, s); err != nil && ctx.Err() == nil {
		return err
	}
	return s.Run(ctx, hangUp)
}

const demoEmail = "demo@localhost"

// demoTerms let a person play: a page that checks while somebody types, and a list
// of some thousand addresses, both without a wait. They are not unlimited, so that a
// client sees the headers and a limit.
var demoTerms = book.Terms{Plan: "pro", Rate: limitOf(50), Points: limitOf(100_000), Overage: new(false)}

func limitOf(n int64) *book.Limit {
	limit := book.Limit(n)
	return &limit
}

// errNoDemo refuses --demo on a ledger of real accounts.
var errNoDemo = errors.New("--demo needs an empty ledger, and this one has accounts: start without --demo, or with another --database")

// announce prints the address of the service. With --demo the first start also
// creates an account, and prints a curl line with its key and a link that signs in
// to the dashboard. Without accounts it prints how to begin.
func (c *serveCmd) announce(ctx context.Context, std streams, s *service.Service) error {
	fmt.Fprintf(std.out, "addrspec %s listens on http://%s\n", service.Release, s.Addr())
	empty, demo, err := accountsOf(ctx, s.Ledger())
	switch {
	case err != nil:
		return err
	case !c.Demo && empty:
		c.announceBeginning(std)
		return nil
	case !c.Demo:
		return nil
	case demo:
		fmt.Fprintf(std.out, "The demo key was shown at the first start; create another in the dashboard or with\n\n  %s key create --account %s --name demo --database %s\n\n", thisProgram(), demoEmail, forShell(&c.DatabaseFlag))
	case empty:
		err = announceDemo(ctx, std, s)
	default:
		err = errNoDemo
	}
	if err != nil || c.Dashboard == "off" {
		return err
	}
	return announceDashboard(ctx, std, s)
}

// accountsOf reports whether a ledger has no account, and whether it has the demo's.
func accountsOf(ctx context.Context, l *ledger.Ledger) (empty, demo bool, err error) {
	first, err := l.Accounts(ctx, book.AccountPage{Limit: 1})
	if err != nil || len(first) == 0 {
		return err == nil, false, err
	}
	_, err = l.AccountByEmail(ctx, demoEmail)
	if errors.Is(err, book.ErrNoAccount) {
		return false, false, nil
	}
	return false, err == nil, err
}

// announceBeginning prints the two commands that make the first key. They work
// while the service runs.
func (c *serveCmd) announceBeginning(std streams) {
	database := forShell(&c.DatabaseFlag)
	fmt.Fprintf(std.out, `There is no account yet. These two commands make the first key:

  %s account create --account you@example.org --database %s
  %[1]s key create --account you@example.org --name first --database %[2]s

`, thisProgram(), database)
}

// thisProgram returns the program as it was called, which works in the same directory
// also if it is not installed.
func thisProgram() string { return shellQuote(os.Args[0]) }

// announceDemo creates the demo account and prints what to do with it.
func announceDemo(ctx context.Context, std streams, s *service.Service) error {
	secret, a, err := demoKey(ctx, s.Ledger())
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "The demo account is ready (%s/s, %s a month); its key is shown only this once. Try\n\n  curl -H 'X-API-Key: %s' http://%s/v1/email/jane.doe+news@hotmial.com\n\n",
		limitWords(a.Rate, "request"), limitWords(a.Points, "point"), secret, s.Addr())
	return nil
}

// announceDashboard prints the dashboard's address, with a one-time link until the
// demo account has a password.
func announceDashboard(ctx context.Context, std streams, s *service.Service) error {
	public, err := s.URL()
	if err != nil {
		return err
	}
	a, err := s.Ledger().AccountByEmail(ctx, demoEmail)
	if err != nil {
		return err
	}
	users := identity.New(s.Ledger())
	if u, err := users.User(ctx, a.ID); err == nil && u.HasPassword {
		fmt.Fprintf(std.out, "The dashboard is at %s; sign in as %s.\n\n", public.JoinPath("sign-in"), demoEmail)
		return nil
	}
	token, err := users.CreateLink(ctx, a.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "The dashboard: this link signs in once\n\n  %s\n\n", public.JoinPath("link", token))
	return nil
}

// demoKey creates the demo account and a key for it.
func demoKey(ctx context.Context, l *ledger.Ledger) (secret string, a book.Account, err error) {
	if a, err = l.CreateAccount(ctx, demoEmail, demoTerms); err != nil {
		return "", a, err
	}
	secret, _, err = l.CreateKey(ctx, a.ID, "demo", book.KeyTerms{})
	return secret, a, err
}

// forShell returns a database's URL as a word of a shell's command line. A URL that may
// contain a secret is left to the environment.
func forShell(f *service.DatabaseFlag) string {
	if shown := f.Redacted(); shown == f.Database {
		return shellQuote(shown)
	}
	return `"$ADDRSPEC_DATABASE"`
}
