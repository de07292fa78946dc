package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

const demoEmail = "demo@localhost"

// announce prints the address of the service. With --demo the first start also
// creates an account, and prints a curl line with its key and a link that signs in
// to the dashboard.
func (c *serveCmd) announce(ctx context.Context, std streams, o *origin, at net.Addr) error {
	fmt.Fprintf(std.out, "addrspec %s listens on http://%s\n", release, at)
	if !c.Demo {
		return nil
	}
	secret, err := demoKey(ctx, o.ledger)
	if errors.Is(err, ledger.ErrAccountExists) {
		fmt.Fprintf(std.out, "The demo key was shown at the first start; create another in the dashboard or with\n\n  dist/addrspec key create --account %s --name demo --database %s\n\n", demoEmail, c.redacted())
	} else if err == nil {
		fmt.Fprintf(std.out, "The demo account is ready; its key is shown only this once. Try\n\n  curl -H 'X-API-Key: %s' http://%s/v1/email/jane.doe+news@hotmial.com\n\n", secret, at)
	}
	if err != nil && !errors.Is(err, ledger.ErrAccountExists) || c.Dashboard == "off" {
		return err
	}
	return c.announceDashboard(ctx, std, o.ledger, at)
}

// announceDashboard prints the dashboard's address, with a one-time link until the
// demo account has a password.
func (c *serveCmd) announceDashboard(ctx context.Context, std streams, l *ledger.Ledger, at net.Addr) error {
	public, err := c.publicURL(portOf(at))
	if err != nil {
		return err
	}
	a, err := l.AccountByEmail(ctx, demoEmail)
	if err != nil {
		return err
	}
	users := identity.New(l)
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
func demoKey(ctx context.Context, l *ledger.Ledger) (secret string, err error) {
	a, err := l.CreateAccount(ctx, demoEmail, ledger.Terms{Plan: "pro"})
	if err != nil {
		return "", err
	}
	secret, _, err = l.CreateKey(ctx, a.ID, "demo", ledger.KeyTerms{})
	return secret, err
}
