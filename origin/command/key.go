package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key and print its secret, which is shown only this once."`
	List   keyListCmd   `cmd:"" help:"List an account's keys, newest first, without their secrets."`
	Change keyChangeCmd `cmd:"" help:"Change a key's name and terms. They apply from its next request."`
	Rotate keyRotateCmd `cmd:"" help:"Give a key a new secret and print it. The old one may remain valid for a while."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key. Requests that begin afterwards get 401."`
}

type keyCreateCmd struct {
	accountFlag
	Name    string      `required:"" placeholder:"N" help:"What the key is for."`
	Expires string      `placeholder:"WHEN" help:"When the key expires: after a number of days such as 90d, or at the beginning of a day (UTC) such as 2027-01-31. Without this flag it does not expire."`
	Budget  *book.Limit `placeholder:"N" help:"Points a month that the key may use of its account's."`
	Rate    *book.Limit `placeholder:"N" help:"Requests a second that the key may send within its account's rate."`
	Origin  []string    `sep:"none" placeholder:"URL" help:"Bind the key to a browser origin such as https://shop.example; repeat it for up to 20. Only pages of these origins may then use the key."`
	Policy  string      `placeholder:"NAME" help:"The policy that decides for requests which name none."`
	Test    bool        `help:"Make a test key: it costs nothing, and addresses at addrspec.test get the responses of a fixed table (page /docs/testing)."`
}

// Run creates the key. The secret is the last word of the output.
func (c *keyCreateCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		expires, err := expiryOf(ctx, l, c.Expires)
		if err != nil {
			return "", err
		}
		terms := book.KeyTerms{Expires: expires, Budget: c.Budget, Rate: c.Rate, Origins: c.Origin, Policy: c.Policy}
		create := l.CreateKey
		if c.Test {
			create = l.CreateTestKey
		}
		secret, key, err := create(ctx, a.ID, c.Name, terms)
		suspended := ""
		if !a.Suspended.IsZero() {
			suspended = ", but its account is suspended: it is refused until account resume"
		}
		return fmt.Sprintf("key %d created%s%s; store its secret, it is not shown again: %s", key.ID,
			describeKeyTerms(key), suspended, secret), err
	})
}

func expiryOf(ctx context.Context, l *ledger.Ledger, text string) (time.Time, error) {
	now, err := l.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return book.ParseExpiry(text, now)
}

func describeKeyTerms(k book.Key) (text string) {
	if k.Test {
		text += ", for tests"
	}
	if !k.Expires.IsZero() {
		text += ", expires " + words.Time(k.Expires)
	}
	if k.Budget != nil {
		text += ", " + limitWords(*k.Budget, "point") + " a month"
	}
	if k.Rate != nil {
		text += ", " + limitWords(*k.Rate, "request") + "/s"
	}
	if len(k.Origins) > 0 {
		text += ", for pages of " + strings.Join(k.Origins, " ")
	}
	if k.Policy != "" {
		text += ", policy " + k.Policy
	}
	return text
}

type keyListCmd struct {
	accountFlag
	tableFlag
	All    bool   `help:"List revoked keys too."`
	Search string `placeholder:"TEXT" help:"List only keys with this text in their name."`
}

func (c *keyListCmd) Run(ctx context.Context, std streams) error {
	return c.withAccount(ctx, func(l *ledger.Ledger, a book.Account) error {
		now, err := l.Now(ctx)
		if err != nil {
			return err
		}
		var rows [][]any
		for p, more := (book.KeyPage{Search: c.Search, Revoked: c.All}), true; more; {
			page, err := l.ListKeys(ctx, a.ID, p)
			if err != nil {
				return err
			}
			for _, k := range page {
				status := "active"
				switch {
				case !k.Revoked.IsZero():
					status = "revoked " + k.Revoked.Format(time.DateOnly)
				case !k.Expires.IsZero() && !now.Before(k.Expires):
					status = "expired"
				case !k.Replaced.IsZero():
					status = "rotated, old secret until " + words.Time(k.Replaced)
				}
				var last, used any
				if k.LastDay != 0 {
					last = k.LastDay.String()
				}
				if k.Budget != nil {
					used = k.Used
				}
				rows = append(rows, []any{k.ID, k.Name, k.Hint, status, day(k.Created), last, day(k.Expires),
					orNil(k.Budget), used, orNil(k.Rate), orNil(strings.Join(k.Origins, " ")), orNil(k.Policy), k.Test})
				p.After = k.ID
			}
			more = len(page) == book.MaxPage
		}
		return c.print(std.out, []string{"id", "name", "begins", "status", "created", "last used", "expires",
			"budget", "used", "rate", "origins", "policy", "test"}, rows)
	})
}

type keyChangeCmd struct {
	accountFlag
	ID      int64    `arg:"" help:"The key's number in 'key list'."`
	Name    string   `placeholder:"N" help:"Rename the key."`
	Expires string   `placeholder:"WHEN" help:"Expire after a number of days such as 90d, at the beginning of a day (UTC) such as 2027-01-31, or never."`
	Budget  keyLimit `placeholder:"N" help:"Points a month that the key may use of its account's, or none."`
	Rate    keyLimit `placeholder:"N" help:"Requests a second that the key may send within its account's rate, or none."`
	Origin  []string `sep:"none" placeholder:"URL" help:"Bind the key to this browser origin, in place of those it has; repeat it for up to 20. With none, any page or program may use the key."`
	Policy  string   `placeholder:"NAME" help:"The policy that decides for requests which name none, or none."`
}

// A keyLimit is a limit of a key's own, or the word none.
type keyLimit struct {
	given bool
	limit *book.Limit
}

func (k *keyLimit) UnmarshalText(value []byte) error {
	k.given = true
	if string(value) == "none" {
		return nil
	}
	k.limit = new(book.Limit)
	if err := k.limit.UnmarshalText(value); err != nil || *k.limit == book.Unlimited {
		return fmt.Errorf("%q must be a whole number, or none for a key that has only its account's limit", value)
	}
	return nil
}

// Run changes the key. Terms that are not given remain.
func (c *keyChangeCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		k, err := l.Key(ctx, a.ID, c.ID)
		if err != nil {
			return "", err
		}
		terms, change := k.KeyTerms, book.KeyChange{}
		if c.Name != "" {
			change.Name = &c.Name
		}
		if c.Expires != "" {
			terms.Expires, err = expiryOf(ctx, l, c.Expires)
			if err != nil {
				return "", err
			}
		}
		if c.Budget.given {
			terms.Budget = c.Budget.limit
		}
		if c.Rate.given {
			terms.Rate = c.Rate.limit
		}
		if len(c.Origin) > 0 {
			terms.Origins = c.Origin
		}
		if len(c.Origin) == 1 && c.Origin[0] == "none" {
			terms.Origins = nil
		}
		terms.Policy = cmp.Or(c.Policy, terms.Policy)
		if c.Policy == "none" {
			terms.Policy = ""
		}
		switch {
		case c.Expires != "" || c.Budget.given || c.Rate.given || len(c.Origin) > 0 || c.Policy != "":
			change.Terms = &terms
		case change.Name == nil:
			return "", errors.New("nothing to change: give --name, --expires, --budget, --rate, --origin or --policy")
		}
		if err := l.ChangeKey(ctx, a.ID, c.ID, change); err != nil {
			return "", err
		}
		k, err = l.Key(ctx, a.ID, c.ID)
		return fmt.Sprintf("key %d changed: %s%s", k.ID, output.Printable(k.Name), describeKeyTerms(k)), err
	})
}

type keyRotateCmd struct {
	accountFlag
	ID    int64         `arg:"" help:"The key's number in 'key list'."`
	Grace time.Duration `default:"24h" help:"How long the old secret remains valid: 0s to 168h (${default})."`
}

func (keyRotateCmd) Help() string {
	return `The key stays the same one: its name, expiry, budget, rate, origins, policy, usage and
responses stored for Idempotency-Keys remain. Store the new secret where requests
are sent from, before the grace is over; with --grace 0s the old secret is refused
from now on. Rotating again ends a grace that is still running.`
}

// Run rotates the key. The new secret is the last word of the output.
func (c *keyRotateCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		secret, k, err := l.RotateKey(ctx, a.ID, c.ID, c.Grace)
		old := "the old secret is refused from now on"
		if !k.Replaced.IsZero() {
			old = "the old secret is valid until " + words.Time(k.Replaced)
		}
		return fmt.Sprintf("key %d rotated; %s; store the new secret, it is not shown again: %s", k.ID, old,
			secret), err
	})
}

type keyRevokeCmd struct {
	accountFlag
	ID int64 `arg:"" help:"The key's number in 'key list'."`
}

func (c *keyRevokeCmd) Run(ctx context.Context, std streams) error {
	return c.apply(ctx, std, func(l *ledger.Ledger, a book.Account) (string, error) {
		return fmt.Sprintf("key %d revoked", c.ID), l.RevokeKey(ctx, a.ID, c.ID)
	})
}
