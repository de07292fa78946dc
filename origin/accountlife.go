package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

type accountSuspendCmd struct{ accountFlag }

// Run suspends the account.
func (c *accountSuspendCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if err := l.SuspendAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d suspended: requests that begin now get 401\n", a.ID)
		return nil
	})
}

type accountResumeCmd struct{ accountFlag }

// Run ends the suspension.
func (c *accountResumeCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if err := l.ResumeAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d resumed: its keys are valid again\n", a.ID)
		return nil
	})
}

type accountDeleteCmd struct {
	accountFlag
	Yes bool `help:"Do not ask for the email again."`
}

const accountDeleteHelp = `Deletes the account with its keys, usage history, audit log, stored answers, the
person who signs in and the webhook. It cannot be undone. The service may keep
running: requests that begin afterwards get 401. If the command is interrupted,
the account remains suspended, without valid keys; run it again.`

// Help returns the text that --help prints after the flags' summary.
func (accountDeleteCmd) Help() string { return accountDeleteHelp }

// Run deletes the account after the email was typed again.
func (c *accountDeleteCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		if !c.Yes {
			if err := confirm(std, a); err != nil {
				return err
			}
		}
		if err := l.DeleteAccount(ctx, a.ID); err != nil {
			return err
		}
		fmt.Fprintf(std.out, "account %d deleted\n", a.ID)
		return nil
	})
}

var errNotConfirmed = errors.New("that is not the account's email; nothing was deleted (give --yes to delete without the question)")

// confirm asks for the account's email and returns an error for any other answer.
func confirm(std streams, a ledger.Account) error {
	fmt.Fprintf(std.err, "This deletes account %d with all its keys and its history, and cannot be undone.\nType its email to delete it: ", a.ID)
	const longest = 1024
	line, err := bufio.NewReader(io.LimitReader(std.in, longest)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(line), a.Email) {
		return errNotConfirmed
	}
	return nil
}

type accountLogCmd struct {
	accountFlag
	tableFlag
}

// Run lists the audit log, newest first.
func (c *accountLogCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a ledger.Account) error {
		var rows [][]any
		for before, more := int64(0), true; more; {
			page, err := l.AuditLog(ctx, a.ID, before, accountPage)
			if err != nil {
				return err
			}
			for _, line := range page {
				rows = append(rows, []any{text(line.At.Format(time.RFC3339)), line.Actor, line.Action, orDash(line.Subject)})
				before = line.ID
			}
			more = len(page) == accountPage
		}
		return c.print(std.out, []string{"at", "actor", "action", "subject"}, rows)
	})
}
