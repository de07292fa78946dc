package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/service/logging"
)

type serveCmd struct {
	service.Config

	Log  logging.Form `group:"Log:" enum:"json,text" default:"json" help:"Format of the log on standard error: json or text."`
	Demo bool         `group:"Database:" help:"Create a demo account at the first start and print a curl line with its key."`
}

func (c *serveCmd) Run(ctx context.Context, std streams, k *kong.Context) error {
	service.IgnoreBrokenPipe()
	hangUp, stop := service.HangUps()
	defer stop()
	log := logging.Open(std.err, c.Log)
	defer log.Close()
	if unknown := unknownVariables(k.Model, c.Hooks); unknown != "" {
		log.Warn("no flag has these variables of the environment, so they have no effect", "variables", unknown)
	}
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
var demoTerms = book.Terms{Plan: "pro", Rate: new(book.Limit(50)), Points: new(book.Limit(100_000)),
	Overage: new(false)}

// announce prints the address of the service. Without accounts it prints the two commands
// that make the first key, which work while the service runs. With --demo the first start
// creates an account, and prints a curl line with its key; each start prints a link that signs
// in to the dashboard until the demo account has a password.
func (c *serveCmd) announce(ctx context.Context, std streams, s *service.Service) error {
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip.IsLoopback() || ip.IsUnspecified() {
		host = "localhost" // because a passkey needs a name
	}
	at := "http://" + net.JoinHostPort(host, port)
	fmt.Fprintf(std.out, "addrspec %s listens on %s\n", service.Release, at)
	first, err := s.Ledger().Accounts(ctx, book.AccountPage{Limit: 1})
	if err != nil {
		return err
	}
	program := shellQuote(os.Args[0]) // works in the same directory also if it is not installed
	if !c.Demo {
		if len(first) == 0 {
			fmt.Fprintf(std.out, `There is no account yet. These two commands make the first key:

  %s account create --account you@example.org --database %s
  %[1]s key create --account you@example.org --name first --database %[2]s

`, program, forShell(&c.DatabaseFlag))
		}
		return nil
	}
	demo, err := s.Ledger().AccountByEmail(ctx, demoEmail)
	switch {
	case len(first) == 0:
		demo, err = s.Ledger().CreateAccount(ctx, demoEmail, demoTerms)
		if err != nil {
			return err
		}
		secret, _, err := s.Ledger().CreateKey(ctx, demo.ID, "demo", book.KeyTerms{})
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "The demo account is ready (%s/s, %s a month); its key is shown only this once. "+
			"Try\n\n  curl -H 'X-API-Key: %s' %s/v1/email/jane.doe+news@hotmial.com\n\n",
			limitWords(demo.Rate, "request"), limitWords(demo.Points, "point"), secret, at)
	case errors.Is(err, book.ErrNoAccount):
		return errors.New("--demo needs an empty ledger, and this one has accounts: start without --demo, or with " +
			"another --database")
	case err != nil:
		return err
	default:
		fmt.Fprintf(std.out, "The demo key was shown at the first start; create another in the dashboard or "+
			"with\n\n  %s key create --account %s --name demo --database %s\n\n", program, demoEmail,
			forShell(&c.DatabaseFlag))
	}
	if c.Dashboard == "off" {
		return nil
	}
	public, err := s.URL()
	if err != nil {
		return err
	}
	users := identity.New(s.Ledger())
	if u, err := users.User(ctx, demo.ID); err == nil && u.HasPassword {
		fmt.Fprintf(std.out, "The dashboard is at %s; sign in as %s.\n\n", public.JoinPath("sign-in"), demoEmail)
		return nil
	}
	token, err := users.CreateLink(ctx, demo.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "The dashboard: this link signs in once\n\n  %s\n\n", public.JoinPath("link", token))
	return nil
}

// forShell returns a database's URL as a word of a shell's command line. A URL that may
// contain a secret is left to the environment.
func forShell(f *service.DatabaseFlag) string {
	if shown := f.Redacted(); shown == f.Database {
		return shellQuote(shown)
	}
	return `"$ADDRSPEC_DATABASE"`
}
