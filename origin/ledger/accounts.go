package ledger

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What the operator's commands can fail with, beside a database that fails.
var (
	ErrNoAccount     = errors.New("there is no such account")
	ErrAccountExists = errors.New("there is an account with this email already")
	ErrNoPlan        = errors.New("there is no such plan")
	ErrNoKey         = errors.New("the account has no such key")
)

// An Account is a customer.
type Account struct {
	ID      int64
	Email   string // in lower case
	Plan    string
	Rate    Limit // in force: the account's own, or the plan's
	Points  Limit
	Overage bool
	Used    int64 // points used this month
	Created time.Time
}

// CreateAccount makes an account.
func (l *Ledger) CreateAccount(ctx context.Context, email string, t Terms) (Account, error) {
	email, err := cleanEmail(email)
	if err != nil {
		return Account{}, err
	}
	if t, err = l.checkTerms(ctx, t); err != nil {
		return Account{}, err
	}
	err = l.change(ctx, ErrAccountExists, func(now time.Time) statement {
		return statement{name: "create_account",
			args: []any{email, t.Plan, t.Rate.orNull(), t.Points.orNull(), now.UnixNano()}}
	})
	if err != nil {
		return Account{}, err
	}
	return l.AccountByEmail(ctx, email)
}

// AccountByEmail finds an account by its email, in any case.
func (l *Ledger) AccountByEmail(ctx context.Context, email string) (Account, error) {
	email, err := cleanEmail(email)
	if err != nil {
		return Account{}, err
	}
	found, err := l.accounts(ctx, email, 0, 1)
	if err == nil && len(found) == 0 {
		err = ErrNoAccount
	}
	if err != nil {
		return Account{}, err
	}
	return found[0], nil
}

// Accounts lists up to limit accounts whose ID is above after, in order of ID.
func (l *Ledger) Accounts(ctx context.Context, after int64, limit int) ([]Account, error) {
	return l.accounts(ctx, "", after, limit)
}

func (l *Ledger) accounts(ctx context.Context, email string, after int64, limit int) ([]Account, error) {
	var list []Account
	now := monthOf(l.clock())
	err := l.query(ctx, statement{name: "list_accounts", args: []any{email, after, limit}, scan: func(r row) error {
		var a Account
		var m month
		var created int64
		err := r.Scan(&a.ID, &a.Email, &a.Plan, &a.Rate, &a.Points, &a.Overage, &m, &a.Used, &created)
		if m < now {
			a.Used = 0 // refilled, though no request has noticed yet
		}
		a.Created = time.Unix(0, created).UTC()
		list = append(list, a)
		return err
	}})
	return list, err
}

var errEmail = errors.New("the account's email is not one: it needs an @, at most 254 octets and no spaces or control characters")

// cleanEmail brings an account's email into the form that makes it unique.
// Whether it can take mail is not asked here.
func cleanEmail(email string) (string, error) {
	email = strings.TrimSpace(email)
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if len(email) > 254 || !utf8.ValidString(email) || !strings.Contains(email, "@") || strings.ContainsFunc(email, odd) {
		return "", errEmail
	}
	return strings.ToLower(email), nil
}
