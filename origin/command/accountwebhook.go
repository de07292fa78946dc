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
	service.WebhookAllowFlag
	tableFlag

	Set    string `placeholder:"URL" xor:"what" help:"Make this https URL the webhook, and print its new secret."`
	Rotate bool   `xor:"what" help:"Print a new secret. The previous one signs too for a day."`
	Test   bool   `xor:"what" help:"Send a test message now, from this machine, and say what became of it."`
	Remove bool   `xor:"what" help:"Remove the webhook. Messages that wait are not sent."`
}

func (accountWebhookCmd) Help() string {
	return `When the points that an account has used in a month reach 80 % and 100 % of its
limit, its webhook gets one message for each, signed as Standard Webhooks describes
(webhook-id, webhook-timestamp, webhook-signature). Without a flag the command
prints the webhook and its latest messages.`
}

// Run shows or changes the webhook. A secret is the last word of the output.
func (c *accountWebhookCmd) Run(ctx context.Context, std streams) error {
	sealer, err := c.Sealer()
	if err != nil {
		return err
	}
	networks, err := c.WebhookNetworks()
	if err != nil {
		return err
	}
	options := webhook.Options{Sealer: sealer, Allow: networks}
	if c.Set == "" && !c.Rotate && !c.Test && !c.Remove {
		return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
			return c.show(ctx, std, webhook.New(l.Store(), options), a.ID)
		})
	}
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		s := webhook.New(l.Store(), options)
		if c.Remove {
			return "webhook removed", s.Remove(ctx, a.ID)
		}
		// With an unknown key a secret would be stored as it is, or could not be read.
		counts, err := store.CountSecrets(ctx, l.Store())
		if err == nil {
			err = sealer.Known(counts)
		}
		if err != nil {
			return "", err
		}
		if c.Test {
			d, err := s.Test(ctx, a.ID)
			if err == nil && !d.Delivered {
				err = fmt.Errorf("the test message was not accepted: %s", d.Status)
			}
			return fmt.Sprintf("test message %s %s", d.ID, d.Status), err
		}
		if c.Set != "" {
			secret, err := s.Set(ctx, a.ID, c.Set)
			return "webhook set; store its secret, it is not shown again: " + secret, err
		}
		secret, err := s.Rotate(ctx, a.ID)
		return "secret rotated, the previous one signs too for a day; " +
			"store the new one, it is not shown again: " + secret, err
	})
}

func (c *accountWebhookCmd) show(ctx context.Context, std streams, s *webhook.Sender, account int64) error {
	hook, err := s.Get(ctx, account)
	if err != nil {
		return err
	}
	list, err := s.Deliveries(ctx, account, 20)
	if err != nil {
		return err
	}
	if c.To == "table" {
		fmt.Fprintf(std.out, "%s, set %s\n", output.Printable(hook.URL), words.Time(hook.Created))
		if !hook.Disabled.IsZero() {
			fmt.Fprintf(std.out, "disabled %s: the receiver returned HTTP 410 (Gone); set the URL again to enable it\n",
				words.Time(hook.Disabled))
		}
	}
	var rows [][]any
	for _, d := range list {
		rows = append(rows, []any{d.ID, d.Percent, d.Created.Format(time.DateTime), d.Attempts, d.Status})
	}
	return c.print(std.out, []string{"id", "percent", "created", "attempts", "status"}, rows)
}
