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

// Errors of the operator's commands.
var (
	ErrNoAccount     = errors.New("there is no such account")
	ErrAccountExists = errors.New("an account with this email exists already")
	ErrNoPlan        = errors.New("there is no such plan")
	ErrNoKey         = errors.New("the account has no such key")
)

// An Account is a customer.
type Account struct {
	ID      int64
	Email   string // in lower case
	Plan    string
	Rate    Limit // the account's own, or the plan's; so are Points and Overage
	Points  Limit
	Overage bool
	Used    int64 // points used this month
	Created time.Time
}

// Terms are what an account may use: its plan, and limits of its own that
// override the plan's unless they are nil.
type Terms struct {
	Plan   string // "" is DefaultPlan
	Rate   *Limit // requests a second
	Points *Limit // points a calendar month
	// Overage allows points beyond the limit. If it is nil, Points of the
	// account's own are a hard limit.
	Overage *bool
}

// CreateAccount creates an account. It returns ErrAccountExists if there is one
// with the email, and an error that wraps ErrNoPlan if there is no such plan.
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

// AccountByEmail returns the account with an email, in upper or lower case, or
// ErrNoAccount.
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

// Accounts returns up to limit accounts with an ID above after, sorted by ID.
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
			a.Used = 0 // the row rolls with the first charge of the month
		}
		a.Created = time.Unix(0, created).UTC()
		list = append(list, a)
		return err
	}})
	return list, err
}

var errEmail = errors.New("the account's email needs an @, at most 254 bytes and no spaces or control characters")

// cleanEmail returns the form of an account's email that is unique: trimmed and
// in lower case. It does not check whether the address can receive mail.
func cleanEmail(email string) (string, error) {
	email = strings.TrimSpace(email)
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if len(email) > 254 || !utf8.ValidString(email) || !strings.Contains(email, "@") || strings.ContainsFunc(email, odd) {
		return "", errEmail
	}
	return strings.ToLower(email), nil
}

// ChangeTerms replaces an account's terms, from its next request on. It returns
// ErrNoAccount if there is no such account, and an error that wraps ErrNoPlan if
// there is no such plan.
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
	return t, fmt.Errorf("%w %q; the plans are %s", ErrNoPlan, t.Plan, strings.Join(names, ", "))
}

func checkOptional(l *Limit, check func(Limit) error) error {
	if l == nil {
		return nil
	}
	return check(*l)
}

// args returns the terms as arguments of a statement.
func (t *Terms) args() []any {
	args := []any{t.Plan, t.Rate.orNull(), t.Points.orNull(), nil}
	if t.Overage != nil {
		args[3] = *t.Overage
	}
	return args
}

// orNull returns the limit as an argument of a statement; nil is NULL.
func (l *Limit) orNull() any {
	if l == nil {
		return nil
	}
	return int64(*l)
}
