package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/addrspec/addrspec/origin/ledger"
)

const demoEmail = "demo@localhost"

// announce prints the address of the service. With --demo the first start also
// creates an account and prints a curl line with its key.
func (c *serveCmd) announce(ctx context.Context, std streams, l *ledger.Ledger, at net.Addr) error {
	fmt.Fprintf(std.out, "addrspec %s listens on http://%s\n", release, at)
	if !c.Demo {
		return nil
	}
	secret, err := demoKey(ctx, l)
	if errors.Is(err, ledger.ErrAccountExists) {
		fmt.Fprintf(std.out, "The demo key was shown at the first start; create another with\n\n  dist/addrspec key create --account %s --name demo --database %s\n\n", demoEmail, c.redacted())
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "The demo account is ready; its key is shown only this once. Try\n\n  curl -H 'X-API-Key: %s' http://%s/v1/email/jane.doe+news@hotmial.com\n\n", secret, at)
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
