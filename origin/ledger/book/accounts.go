package book

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Errors of accounts.
var (
	ErrNoAccount     = errors.New("there is no such account")
	ErrAccountExists = errors.New("an account with this email exists already")
	ErrSuspended     = errors.New("the account is suspended: its owner can neither change nor delete it, and may revoke keys only")

	errEmail = errors.New("the account's email needs an @, at most 254 bytes and no spaces or control characters")
)

// An Account is a customer.
type Account struct {
	ID        int64     `json:"id"`
	Email     string    `json:"email"` // in lower case
	Plan      string    `json:"plan"`
	Rate      Limit     `json:"rate"` // the account's own, or the plan's; so are Points and Overage
	Points    Limit     `json:"points"`
	Overage   bool      `json:"overage"`
	Used      int64     `json:"used"` // points used this month
	Refill    time.Time `json:"-"`    // when the points refill
	Created   time.Time `json:"created"`
	Suspended time.Time `json:"suspended,omitzero"` // zero if it is not suspended
	Own       Terms     `json:"-"`                  // the plan, and limits of the account's own

	month Month // of Used in the row
}

// CreateAccount creates an account. It returns ErrAccountExists if there is one
// with the email, and an error that wraps ErrNoPlan if there is no such plan. The
// statements of also belong to the same transaction.
func (b *Book) CreateAccount(ctx context.Context, email string, t Terms,
	also ...func(account int64, now time.Time) []store.Statement) (Account, error) {
	email, err := cleanEmail(email)
	if err != nil {
		return Account{}, err
	}
	t, err = b.checkTerms(ctx, t)
	if err != nil {
		return Account{}, err
	}
	var id int64
	reads := func() []store.Statement {
		id = 0
		args := append(append([]any{email}, t.args()...), b.now().UnixNano())
		return []store.Statement{readRow("create_account", args, &id)}
	}
	err = b.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
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
	return b.Account(ctx, id)
}

// Account returns the account with an ID.
func (b *Book) Account(ctx context.Context, id int64) (a Account, err error) {
	err = b.query(ctx, b.readAccount(id, &a))
	if err == nil && a.ID == 0 {
		err = ErrNoAccount
	}
	return a, err
}

// AccountByEmail returns the account with an email, in upper or lower case.
func (b *Book) AccountByEmail(ctx context.Context, email string) (a Account, err error) {
	email, err = cleanEmail(email)
	if err != nil {
		return a, err
	}
	err = b.query(ctx, b.readAccounts(0, email, AccountPage{}, func(found Account) { a = found }))
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

func pageLimit(limit int) int {
	if limit <= 0 {
		return MaxPage
	}
	return min(limit, MaxPage)
}

// Accounts returns a page of the accounts, sorted by ID.
func (b *Book) Accounts(ctx context.Context, p AccountPage) (list []Account, err error) {
	p.Search = strings.ToLower(strings.TrimSpace(p.Search))
	err = b.query(ctx, b.readAccounts(0, "", p, func(a Account) { list = append(list, a) }))
	return list, err
}

// TopAccounts returns the accounts that used most points this month, at most limit of them.
func (b *Book) TopAccounts(ctx context.Context, limit int) (list []Account, err error) {
	args := []any{int64(MonthOf(b.now())), pageLimit(limit)}
	scan := b.scanAccount(func(a Account) { list = append(list, a) })
	return list, b.report(ctx, store.Statement{Name: "list_top_accounts", Args: args, Scan: scan})
}

// Without a row, a is zero.
func (b *Book) readAccount(id int64, a *Account) store.Statement {
	*a = Account{}
	return b.readAccounts(cmp.Or(id, -1), "", AccountPage{}, func(found Account) { *a = found })
}

// An ID or an email that is not zero selects one account.
func (b *Book) readAccounts(id int64, email string, p AccountPage, visit func(Account)) store.Statement {
	args := []any{id, email, p.Search, p.After, pageLimit(p.Limit)}
	return store.Statement{Name: "list_accounts", Args: args, Scan: b.scanAccount(visit)}
}

func (b *Book) scanAccount(visit func(Account)) func(store.Row) error {
	now := MonthOf(b.now())
	return func(r store.Row) error {
		var a Account
		err := r.Scan(&a.ID, &a.Email, &a.Plan, &a.Rate, &a.Points, &a.Overage, &a.month, &a.Used,
			unixTime{&a.Created}, unixTime{&a.Suspended}, &a.Own.Rate, &a.Own.Points, &a.Own.Overage)
		a.Own.Plan, a.Refill = a.Plan, (max(a.month, now) + 1).Begin()
		if a.month < now {
			a.Used = 0 // the row rolls with the first charge of the month
		}
		visit(a)
		return err
	}
}

// cleanEmail does not check whether the address can receive mail.
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

// ownerMay returns ErrSuspended if the owner asks for a change of a suspended account. The
// operator, the command line and the service may make it.
func ownerMay(ctx context.Context, a Account) error {
	if !a.Suspended.IsZero() && actorOf(ctx) == Owner {
		return ErrSuspended
	}
	return nil
}

// ChangeTerms replaces an account's terms, from its next request on. It returns an error that
// wraps ErrNoPlan if there is no such plan.
func (b *Book) ChangeTerms(ctx context.Context, account int64, t Terms) error {
	t, err := b.checkTerms(ctx, t)
	if err != nil {
		return err
	}
	return b.changeAccount(ctx, account, nil, func(a Account, now time.Time) ([]store.Statement, error) {
		if reflect.DeepEqual(a.Own, t) {
			return nil, nil
		}
		change := statement("change_account", append([]any{account}, t.args()...)...)
		return Audit(ctx, account, now, "account.change", t.describe(), change), nil
	})
}

// SuspendAccount refuses all keys of an account on every replica, from the next
// request on, and its owner's changes.
func (b *Book) SuspendAccount(ctx context.Context, account int64) error {
	return b.changeAccount(ctx, account, nil, func(a Account, now time.Time) ([]store.Statement, error) {
		if !a.Suspended.IsZero() {
			return nil, nil
		}
		return Audit(ctx, account, now, "account.suspend", "", statement("suspend_account", account, now.UnixNano())), nil
	})
}

// ResumeAccount ends a suspension.
func (b *Book) ResumeAccount(ctx context.Context, account int64) error {
	return b.changeAccount(ctx, account, nil, func(a Account, now time.Time) ([]store.Statement, error) {
		if a.Suspended.IsZero() {
			return nil, nil
		}
		return Audit(ctx, account, now, "account.resume", "", statement("suspend_account", account, nil)), nil
	})
}

// How much one transaction of a deletion deletes, because charges of all accounts may wait for it.
const (
	deleteRows = 500 // idempotency records or rows of usage
	deleteKeys = 100 // keys, with what refers to them
)

// DeleteAccount deletes an account and all rows that belong to it, in every table. The owner of a
// suspended one may not, because a person who is suspended could sign up again. No line of the
// audit log remains, so the deletion is logged.
//
// The first transaction suspends the account and deletes its secrets, its user and its webhook:
// no request gets a 200 and nobody signs in from then on, even if the rest fails. Another call
// then goes on with the rows that are left; the owner must ask an operator for it.
func (b *Book) DeleteAccount(ctx context.Context, account int64) error {
	err := b.changeAccount(ctx, account, nil, func(a Account, now time.Time) ([]store.Statement, error) {
		return Audit(ctx, account, now, "account.delete", "",
			statement("suspend_account", account, now.UnixNano()), statement("drop_secrets", account),
			statement("drop_user", account), statement("delete_webhook", account)), ownerMay(ctx, a)
	})
	if err != nil {
		return err
	}
	lock := func() []store.Statement { return []store.Statement{lockAccount(account)} }
	for _, slice := range []store.Statement{
		statement("drop_answers", account, deleteRows), statement("drop_usage", account, deleteRows),
		statement("drop_keys", account, deleteKeys), statement("drop_account", account),
	} {
		more := true
		slice.Scan = func(store.Row) error { more = true; return nil }
		for more {
			err := b.transact(ctx, lock, func(time.Time) ([]store.Statement, error) {
				more = false
				return []store.Statement{slice}, nil
			})
			if err != nil {
				return err
			}
		}
	}
	b.log.Info("an account was deleted", "account", account, "actor", string(actorOf(ctx)))
	return nil
}
