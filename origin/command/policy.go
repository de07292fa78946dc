package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/check"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/service"
)

type policyCmd struct {
	Set    policySetCmd    `cmd:"" help:"Check a policy and store it, in place of what the name had. It applies from the next request."`
	List   policyListCmd   `cmd:"" help:"List an account's policies."`
	Show   policyShowCmd   `cmd:"" help:"Print a policy as it was given."`
	Delete policyDeleteCmd `cmd:"" help:"Delete a policy that is no key's default."`
}

type policySetCmd struct {
	accountFlag
	service.ModuleFlags
	Name string `arg:"" help:"The policy's name: 1 to 64 of a-z, 0-9, - and _."`
	File string `arg:"" help:"The JSON document, or - for standard input."`
}

func (policySetCmd) Help() string {
	return `The document has the members allow, block and review. Each may have domains, of which
*.x covers what is below x, and block and review may have reasons. The most specific
domain decides; then the reasons of block, then those of review; else the address is
allowed. An address that is not valid is blocked.

  {"allow":  {"domains": ["partner.example", "*.corp.example"]},
   "block":  {"domains": ["spam.example"], "reasons": ["disposable", "no_mail"]},
   "review": {"reasons": ["role", "relay", "typo"]}}

Reasons are disposable, public, relay, typo, alias, role or one category (role:marketing),
gibberish or with a threshold (gibberish>=0.8), no_mx, no_mail (neither MX nor address record),
non_ascii, quoted, comment, literal, single_label, unknown_tld, special_use, generated,
odd_character, looks_disposable and mailbox_form.
Requests use it with ?policy=NAME, "policy": "NAME" in a batch, or a key with it as its default
(key change --policy NAME).`
}

func (c *policySetCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		if err := book.CheckPolicyName(c.Name); err != nil {
			return "", err
		}
		read := func() (string, error) { return service.ReadStart(c.File, check.MaxPolicyFile) }
		file := c.File
		if file == "-" {
			file = "standard input"
			read = func() (string, error) {
				text, err := io.ReadAll(io.LimitReader(std.in, check.MaxPolicyFile))
				return string(text), err
			}
		}
		document, err := read()
		if err != nil {
			return "", err
		}
		engine, err := c.Engine(ctx)
		if err != nil {
			return "", err
		}
		defer engine.Close(context.WithoutCancel(ctx))
		if _, err := check.CompilePolicy(ctx, engine, file, document); err != nil {
			return "", err
		}
		before, err := l.Policy(ctx, a.ID, c.Name)
		if err != nil && !errors.Is(err, book.ErrNoPolicy) {
			return "", err
		}
		p, err := l.SetPolicy(ctx, a.ID, c.Name, document)
		done := "set"
		if p.Version == before.Version {
			done = "unchanged"
		}
		return fmt.Sprintf("policy %s %s, version %d", p.Name, done, p.Version), err
	})
}

type policyListCmd struct {
	accountFlag
	tableFlag
}

func (c *policyListCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		policies, err := l.Policies(ctx, a.ID)
		if err != nil {
			return err
		}
		var rows [][]any
		for _, p := range policies {
			rows = append(rows, []any{p.Name, p.Version, p.Changed.Format(time.RFC3339), p.Size})
		}
		return c.print(std.out, []string{"name", "version", "changed", "bytes"}, rows)
	})
}

type policyName struct {
	accountFlag
	Name string `arg:"" help:"The policy's name in 'policy list'."`
}

func (c *policyName) named(err error) error {
	if errors.Is(err, book.ErrNoPolicy) {
		return fmt.Errorf("%w; see addrspec policy list", err)
	}
	return err
}

type policyShowCmd struct {
	policyName
	To string `enum:"text,json" default:"text" help:"Output format: text, which is the document as it was given, or json (one object with name, version, changed and document)."`
}

func (c *policyShowCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		p, err := l.Policy(ctx, a.ID, c.Name)
		if err != nil {
			return c.named(err)
		}
		if c.To == "json" {
			return printJSON(std.out, struct {
				Name     string          `json:"name"`
				Version  int64           `json:"version"`
				Changed  time.Time       `json:"changed"`
				Document json.RawMessage `json:"document"`
			}{p.Name, p.Version, p.Changed, json.RawMessage(p.Document)})
		}
		if !strings.HasSuffix(p.Document, "\n") {
			p.Document += "\n"
		}
		_, err = io.WriteString(std.out, p.Document)
		return err
	})
}

type policyDeleteCmd struct{ policyName }

func (c *policyDeleteCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("policy %s deleted", c.Name), c.named(l.DeletePolicy(ctx, a.ID, c.Name))
	})
}
