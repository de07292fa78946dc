package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
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

// Terms are what an account may use: its plan, and numbers of its own that
// replace the plan's where they are given.
type Terms struct {
	Plan   string // "" is DefaultPlan
	Rate   *Limit // requests a second
	Points *Limit // points a calendar month
	// Overage says whether points beyond the limit may be used. Without it,
	// Points of its own are a hard limit.
	Overage *bool
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
	err = l.change(ctx, ErrAccountExists, func(now time.Time) store.Statement {
		args := append(append([]any{email}, t.args()...), now.UnixNano())
		return store.Statement{Name: "create_account", Args: args}
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
	now := monthOf(l.clock.now())
	err := l.query(ctx, store.Statement{Name: "list_accounts", Args: []any{email, after, limit}, Scan: func(r store.Row) error {
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

var errEmail = errors.New("the account's email is not one: it needs an @, at most 254 bytes and no spaces or control characters")

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

// ChangeTerms puts an account on other terms, from its next request on.
func (l *Ledger) ChangeTerms(ctx context.Context, account int64, t Terms) error {
	t, err := l.checkTerms(ctx, t)
	if err != nil {
		return err
	}
	return l.change(ctx, ErrNoAccount, func(time.Time) store.Statement {
		return store.Statement{Name: "change_account", Args: append([]any{account}, t.args()...)}
	})
}

func (l *Ledger) checkTerms(ctx context.Context, t Terms) (Terms, error) {
	if t.Plan == "" {
		t.Plan = DefaultPlan
	}
	if t.Points != nil && t.Overage == nil {
		t.Overage = new(bool)
	}
	plans, err := l.Plans(ctx)
	if err != nil {
		return t, err
	}
	var names []string
	for _, p := range plans {
		if names = append(names, p.Name); p.Name == t.Plan {
			return t, errors.Join(checkOptional(t.Rate, checkRate), checkOptional(t.Points, checkPoints))
		}
	}
	return t, fmt.Errorf("%w %q; there are %s", ErrNoPlan, t.Plan, strings.Join(names, ", "))
}

func checkOptional(l *Limit, check func(Limit) error) error {
	if l == nil {
		return nil
	}
	return check(*l)
}

// args are the terms as a statement's arguments.
func (t *Terms) args() []any {
	args := []any{t.Plan, t.Rate.orNull(), t.Points.orNull(), nil}
	if t.Overage != nil {
		args[3] = *t.Overage
	}
	return args
}

// orNull is the limit as a statement's argument.
func (l *Limit) orNull() any {
	if l == nil {
		return nil
	}
	return int64(*l)
}
