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
	ID        int64
	Email     string // in lower case
	Plan      string
	Rate      Limit // the account's own, or the plan's; so are Points and Overage
	Points    Limit
	Overage   bool
	Used      int64 // points used this month
	Created   time.Time
	Suspended time.Time // zero if it is not suspended
	Own       Terms     // the plan, and limits of the account's own

	month month // of Used in the row
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
// with the email, and an error that wraps ErrNoPlan if there is no such plan. The
// statements of also belong to the same transaction.
func (l *Ledger) CreateAccount(ctx context.Context, email string, t Terms, also ...func(account int64, now time.Time) []store.Statement) (Account, error) {
	email, err := cleanEmail(email)
	if err != nil {
		return Account{}, err
	}
	if t, err = l.checkTerms(ctx, t); err != nil {
		return Account{}, err
	}
	var id int64
	create := store.Statement{Name: "create_account", Args: append(append([]any{email}, t.args()...), l.clock.now().UnixNano()),
		Scan: func(r store.Row) error { return r.Scan(&id) }}
	reads := func() []store.Statement { id = 0; return []store.Statement{create} }
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if id == 0 {
			return nil, ErrAccountExists
		}
		list := Audit(ctx, id, now, "account.create", t.describe())
		for _, more := range also {
			list = append(list, more(id, now)...)
		}
		return list, nil
	})
	if err != nil {
		return Account{}, err
	}
	return l.Account(ctx, id)
}

// Account returns the account with an ID, or ErrNoAccount.
func (l *Ledger) Account(ctx context.Context, id int64) (Account, error) {
	var a Account
	err := l.query(ctx, l.readAccounts(accountQuery{id: id}, func(found Account) { a = found }))
	if err == nil && a.ID == 0 {
		err = ErrNoAccount
	}
	return a, err
}

// AccountByEmail returns the account with an email, in upper or lower case, or
// ErrNoAccount.
func (l *Ledger) AccountByEmail(ctx context.Context, email string) (Account, error) {
	email, err := cleanEmail(email)
	if err != nil {
		return Account{}, err
	}
	var a Account
	err = l.query(ctx, l.readAccounts(accountQuery{email: email}, func(found Account) { a = found }))
	if err == nil && a.ID == 0 {
		err = ErrNoAccount
	}
	return a, err
}

// An AccountPage is a part of the list of accounts.
type AccountPage struct {
	After  int64  // the last ID of the page before; 0 for the first page
	Limit  int    // how many, at most MaxPage; 0 is MaxPage
	Search string // a part of the email; "" for all
}

// MaxPage is the most accounts, keys or lines that one page has.
const MaxPage = 1000

// pageLimit returns how many rows a page has.
func pageLimit(limit int) int {
	if limit <= 0 {
		return MaxPage
	}
	return min(limit, MaxPage)
}

// Accounts returns a page of the accounts, sorted by ID.
func (l *Ledger) Accounts(ctx context.Context, p AccountPage) (list []Account, err error) {
	q := accountQuery{part: strings.ToLower(strings.TrimSpace(p.Search)), after: p.After, limit: p.Limit}
	err = l.query(ctx, l.readAccounts(q, func(a Account) { list = append(list, a) }))
	return list, err
}

// An accountQuery selects accounts. A zero value selects all.
type accountQuery struct {
	id          int64
	email, part string
	after       int64
	limit       int
}

// readAccounts returns the statement that reads accounts and calls visit for each.
func (l *Ledger) readAccounts(q accountQuery, visit func(Account)) store.Statement {
	now := monthOf(l.clock.now())
	args := []any{q.id, q.email, q.part, q.after, pageLimit(q.limit)}
	return store.Statement{Name: "list_accounts", Args: args, Scan: func(r store.Row) error {
		var a Account
		var created, suspended int64
		err := r.Scan(&a.ID, &a.Email, &a.Plan, &a.Rate, &a.Points, &a.Overage, &a.month, &a.Used, &created, &suspended,
			&a.Own.Rate, &a.Own.Points, &a.Own.Overage)
		a.Own.Plan = a.Plan
		if a.month < now {
			a.Used = 0 // the row rolls with the first charge of the month
		}
		a.Created, a.Suspended = timeOf(created), timeOf(suspended)
		visit(a)
		return err
	}}
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

// CheckEmail returns an error if no account can have the email.
func CheckEmail(email string) error {
	_, err := cleanEmail(email)
	return err
}

// ChangeTerms replaces an account's terms, from its next request on. It returns
// ErrNoAccount if there is no such account, and an error that wraps ErrNoPlan if
// there is no such plan.
func (l *Ledger) ChangeTerms(ctx context.Context, account int64, t Terms) error {
	t, err := l.checkTerms(ctx, t)
	if err != nil {
		return err
	}
	return l.changeAccount(ctx, account, func(Account, time.Time) (change, error) {
		change := store.Statement{Name: "change_account", Args: append([]any{account}, t.args()...)}
		return changed("account.change", t.describe(), change), nil
	})
}

// A change is statements with the line of the audit log that records them. One
// without statements changes nothing and is not recorded.
type change struct {
	action, subject string
	writes          []store.Statement
}

func changed(action, subject string, writes ...store.Statement) change {
	return change{action, subject, writes}
}

// changeAccount decides a change of an account under the lock of its row, and
// records it. It returns ErrNoAccount if there is no such account.
func (l *Ledger) changeAccount(ctx context.Context, account int64, decide func(Account, time.Time) (change, error)) error {
	return l.changeAccountAfter(ctx, account, nil, decide)
}

// changeAccountAfter does the same after another read, unless it is nil.
func (l *Ledger) changeAccountAfter(ctx context.Context, account int64, read func() store.Statement, decide func(Account, time.Time) (change, error)) error {
	var a Account
	reads := func() []store.Statement {
		a = Account{}
		list := []store.Statement{lockAccount(account), l.readAccounts(accountQuery{id: account}, func(found Account) { a = found })}
		if read != nil {
			list = append(list, read())
		}
		return list
	}
	return l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if a.ID == 0 {
			return nil, ErrNoAccount
		}
		c, err := decide(a, now)
		if err != nil || len(c.writes) == 0 {
			return nil, err
		}
		return append(c.writes, Audit(ctx, account, now, c.action, c.subject)...), nil
	})
}

// lockAccount returns the statement that locks an account's row, which protects
// its keys and their secrets too.
func lockAccount(account int64) store.Statement {
	return store.Statement{Name: "lock_accounts", Args: []any{asJSON([][]any{{account, 0, ""}})}}
}

// describe returns the terms for the audit log.
func (t *Terms) describe() string {
	text := "plan " + t.Plan
	if t.Rate != nil {
		text += ", rate " + t.Rate.String()
	}
	if t.Points != nil {
		text += ", points " + t.Points.String()
	}
	if t.Overage != nil && *t.Overage {
		text += ", overage"
	}
	return text
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
