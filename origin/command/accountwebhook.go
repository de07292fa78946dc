package command

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/origin/words"
)

type accountWebhookCmd struct {
	accountFlag
	service.SecretKeyFlags
	tableFlag

	Set    string `placeholder:"URL" xor:"what" help:"Make this https URL the webhook, and print its new secret."`
	Rotate bool   `xor:"what" help:"Print a new secret. The previous one signs too for a day."`
	Test   bool   `xor:"what" help:"Send a test message now, from this machine, and say what became of it."`
	Remove bool   `xor:"what" help:"Remove the webhook. Messages that wait are not sent."`
}

const accountWebhookHelp = `When the points that an account has used in a month reach 80 % and 100 % of its
limit, its webhook gets one message for each, signed as Standard Webhooks describes
(webhook-id, webhook-timestamp, webhook-signature). Without a flag the command
prints the webhook and its latest messages.`

// Help returns the text that --help prints after the flags' summary.
func (accountWebhookCmd) Help() string { return accountWebhookHelp }

// maxDeliveries is how many messages the command lists.
const maxDeliveries = 20

// Run shows or changes the webhook.
func (c *accountWebhookCmd) Run(ctx context.Context, std streams) error {
	sealer, err := c.Sealer()
	if err != nil {
		return err
	}
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		s := webhook.New(l.Store(), webhook.Options{Sealer: sealer})
		if c.Set != "" || c.Rotate || c.Test {
			if err := requireKeys(ctx, l, sealer); err != nil {
				return err
			}
		}
		switch {
		case c.Set != "":
			secret, err := s.Set(ctx, a.ID, c.Set)
			return printSecret(std, "webhook set; store its secret", secret, err)
		case c.Rotate:
			secret, err := s.Rotate(ctx, a.ID)
			return printSecret(std, "secret rotated, the previous one signs too for a day; store the new one", secret, err)
		case c.Test:
			return testWebhook(ctx, std, s, a.ID)
		case c.Remove:
			if err := s.Remove(ctx, a.ID); err != nil {
				return err
			}
			fmt.Fprintln(std.out, "webhook removed")
			return nil
		}
		return c.show(ctx, std, s, a.ID)
	})
}

// requireKeys returns an error if secrets in the ledger are sealed with a key that is not
// given: a secret would be stored as it is, or could not be read.
func requireKeys(ctx context.Context, l *ledger.Ledger, sealer *store.Sealer) error {
	counts, err := store.CountSecrets(ctx, l.Store())
	if err != nil {
		return err
	}
	return sealer.Known(counts)
}

// printSecret prints a secret as the last word of the output.
func printSecret(std streams, what, secret string, err error) error {
	if err == nil {
		fmt.Fprintf(std.out, "%s, it is not shown again: %s\n", what, secret)
	}
	return err
}

func testWebhook(ctx context.Context, std streams, s *webhook.Sender, account int64) error {
	d, err := s.Test(ctx, account)
	if err != nil {
		return err
	}
	if !d.Delivered {
		return fmt.Errorf("the test message was not accepted: %s", d.Status)
	}
	fmt.Fprintf(std.out, "test message %s %s\n", d.ID, d.Status)
	return nil
}

// show prints the webhook and its latest messages.
func (c *accountWebhookCmd) show(ctx context.Context, std streams, s *webhook.Sender, account int64) error {
	hook, err := s.Get(ctx, account)
	if err != nil {
		return err
	}
	list, err := s.Deliveries(ctx, account, maxDeliveries)
	if err != nil {
		return err
	}
	if c.To == "table" {
		printWebhook(std, hook)
	}
	var rows [][]any
	for _, d := range list {
		rows = append(rows, []any{d.ID, d.Percent, d.Created.Format(time.DateTime), d.Attempts, d.Status})
	}
	return c.print(std.out, []string{"id", "percent", "created", "attempts", "status"}, rows)
}

func printWebhook(std streams, hook webhook.Webhook) {
	fmt.Fprintf(std.out, "%s, set %s\n", output.Printable(hook.URL), words.Time(hook.Created))
	if !hook.Disabled.IsZero() {
		fmt.Fprintf(std.out, "disabled %s: the receiver returned HTTP 410 (Gone); set the URL again to enable it\n", words.Time(hook.Disabled))
	}
}
