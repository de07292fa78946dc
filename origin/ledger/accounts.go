package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
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
	ErrSuspended     = errors.New("the account is suspended: its owner can neither change nor delete it, and may revoke keys only")
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

// ChangeTerms replaces an account's terms, from its next request on. The same terms
// change nothing. It returns
// ErrNoAccount if there is no such account, and an error that wraps ErrNoPlan if
// there is no such plan.
func (l *Ledger) ChangeTerms(ctx context.Context, account int64, t Terms) error {
	t, err := l.checkTerms(ctx, t)
	if err != nil {
		return err
	}
	return l.changeAccount(ctx, account, func(a Account, _ time.Time) (change, error) {
		if reflect.DeepEqual(a.Own.args(), t.args()) {
			return change{}, nil
		}
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

// changeAccountAfter does the same after further reads, unless read is nil.
func (l *Ledger) changeAccountAfter(ctx context.Context, account int64, read func() []store.Statement, decide func(Account, time.Time) (change, error)) error {
	var a Account
	reads := func() []store.Statement {
		a = Account{}
		list := []store.Statement{lockAccount(account), l.readAccounts(accountQuery{id: account}, func(found Account) { a = found })}
		if read != nil {
			list = append(list, read()...)
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

// ownerMay returns ErrSuspended if the owner asks for a change of a suspended account. The
// operator, the command line and the service may make it.
func ownerMay(ctx context.Context, suspended bool) error {
	if suspended && actorOf(ctx) == Owner {
		return ErrSuspended
	}
	return nil
}

// SuspendAccount refuses all keys of an account on every replica, from the next
// request on, and its owner's changes. Suspending it again changes nothing. It returns ErrNoAccount if
// there is no such account.
func (l *Ledger) SuspendAccount(ctx context.Context, account int64) error {
	return l.changeAccount(ctx, account, func(a Account, now time.Time) (change, error) {
		if !a.Suspended.IsZero() {
			return change{}, nil
		}
		return changed("account.suspend", "", store.Statement{Name: "suspend_account", Args: []any{account, now.UnixNano()}}), nil
	})
}

// ResumeAccount ends a suspension; without one it changes nothing. It returns
// ErrNoAccount if there is no such account.
func (l *Ledger) ResumeAccount(ctx context.Context, account int64) error {
	return l.changeAccount(ctx, account, func(a Account, now time.Time) (change, error) {
		if a.Suspended.IsZero() {
			return change{}, nil
		}
		return changed("account.resume", "", store.Statement{Name: "suspend_account", Args: []any{account, nil}}), nil
	})
}

// Bounds of an account's policies. A document has 2.6 MB at most (core/policy), so one of
// that length is possible, and a hundred usual ones.
const (
	MaxPolicies      = 100
	maxPolicyName    = 64
	MaxPolicyStorage = 8 << 20 // bytes of all documents
)

// Errors of policies.
var (
	ErrNoPolicy        = errors.New("the account has no such policy")
	ErrPolicyChanged   = errors.New("the policy was changed since it was read")
	ErrPolicyInUse     = errors.New("the policy is the default of a key; give the key another one first")
	ErrTooManyPolicies = fmt.Errorf("the account has %d policies, which is the most; delete one that is not used", MaxPolicies)
	ErrPolicyStorage   = fmt.Errorf("the account's policies would be over %d bytes together, which is the most; delete one that is not used", MaxPolicyStorage)
	errPolicyName      = fmt.Errorf("the name of a policy must have 1 to %d of a-z, 0-9, - and _", maxPolicyName)
	errDocument        = errors.New("the document of a policy must be JSON in UTF-8")
)

// A Policy is a document of an account that turns facts into a verdict. It is kept as it
// was given.
type Policy struct {
	Account  int64
	Name     string
	Document string
	Size     int64     // of the document in bytes
	Version  int64     // rises with each change, and is never used again in the account
	Changed  time.Time // when the document was given

	accepted *atomic.Value // by Accepted; nil unless requests share the policy
}

// Accepted returns what accept makes of the document. The policy of a request keeps it as
// long as it is in memory itself, so that accept is called once for many requests; it must
// always return the same type.
func (p *Policy) Accepted(accept func() (any, error)) (any, error) {
	if p.accepted == nil {
		return accept()
	}
	if known := p.accepted.Load(); known != nil {
		return known, nil
	}
	accepted, err := accept()
	if err == nil {
		p.accepted.Store(accepted)
	}
	return accepted, err
}

// CheckPolicyName returns an error if no policy can have the name.
func CheckPolicyName(name string) error {
	if name == "" || len(name) > maxPolicyName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return errPolicyName
	}
	return nil
}

// SetPolicy creates a policy or replaces its document, for requests that begin afterwards.
// The same document changes nothing. The caller has checked that the document is a policy,
// which needs the module (host.Engine.NewPolicy). It returns an error for a name or a
// document that cannot be stored, ErrNoAccount if there is no such account,
// ErrTooManyPolicies and ErrPolicyStorage if it would have too much, and ErrSuspended to the
// owner of a suspended one.
func (l *Ledger) SetPolicy(ctx context.Context, account int64, name, document string) (Policy, error) {
	return l.putPolicy(ctx, account, name, document, func(int64) bool { return true })
}

// ReplacePolicy is SetPolicy for a document that was made from a version of the policy, 0 if
// there was none. It returns ErrPolicyChanged if that is not the version any more, unless the
// policy has the same document.
func (l *Ledger) ReplacePolicy(ctx context.Context, account int64, name, document string, version int64) (Policy, error) {
	return l.putPolicy(ctx, account, name, document, func(now int64) bool { return now == version })
}

// putPolicy is SetPolicy if the policy's version, 0 for none, may be replaced.
func (l *Ledger) putPolicy(ctx context.Context, account int64, name, document string, may func(version int64) bool) (Policy, error) {
	if err := CheckPolicyName(name); err != nil {
		return Policy{}, err
	}
	if document == "" || !utf8.ValidString(document) || strings.ContainsRune(document, 0) { // PostgreSQL stores no zero byte
		return Policy{}, errDocument
	}
	old, all := policyRead{account: account, name: name}, policyList{account: account}
	read := func() []store.Statement { return []store.Statement{old.read(), all.read()} }
	err := l.changeAccountAfter(ctx, account, read, func(a Account, now time.Time) (change, error) {
		if old.found && old.Document == document {
			return change{}, nil
		}
		if !may(old.Version) {
			return change{}, ErrPolicyChanged
		}
		if err := cmp.Or(ownerMay(ctx, !a.Suspended.IsZero()), all.admits(name, len(document))); err != nil {
			return change{}, err
		}
		return changed("policy.set", name, countPolicyChange(account),
			store.Statement{Name: "put_policy", Args: []any{account, name, document, now.UnixNano()}}), nil
	})
	if err != nil {
		return Policy{}, err
	}
	return l.Policy(ctx, account, name)
}

// countPolicyChange returns the statement that makes every replica read the account's
// policies again.
func countPolicyChange(account int64) store.Statement {
	return store.Statement{Name: "count_policy_change", Args: []any{account}}
}

// DeletePolicy deletes a policy. Requests in progress go on with it. It returns ErrNoPolicy
// if the account has no such policy, an error that wraps ErrPolicyInUse if it is the default
// of a key that is not revoked, and ErrSuspended to the owner of a suspended account.
func (l *Ledger) DeletePolicy(ctx context.Context, account int64, name string) error {
	old, key := policyRead{account: account, name: name}, int64(0)
	read := func() []store.Statement {
		key = 0
		return []store.Statement{old.read(), {Name: "find_policy_key", Args: []any{account, name}, Scan: func(r store.Row) error { return r.Scan(&key) }}}
	}
	return l.changeAccountAfter(ctx, account, read, func(a Account, _ time.Time) (change, error) {
		switch err := ownerMay(ctx, !a.Suspended.IsZero()); {
		case err != nil:
			return change{}, err
		case !old.found:
			return change{}, ErrNoPolicy
		case key != 0:
			return change{}, fmt.Errorf("key %d: %w", key, ErrPolicyInUse)
		}
		return changed("policy.delete", name, countPolicyChange(account),
			store.Statement{Name: "delete_policy", Args: []any{account, name}}), nil
	})
}

// Policies returns an account's policies by name, without their documents.
func (l *Ledger) Policies(ctx context.Context, account int64) ([]Policy, error) {
	all := policyList{account: account}
	err := l.query(ctx, all.read())
	return all.list, err
}

// Policy returns the policy of an account with a name, or ErrNoPolicy.
func (l *Ledger) Policy(ctx context.Context, account int64, name string) (Policy, error) {
	p := policyRead{account: account, name: name}
	err := l.query(ctx, p.read())
	if err == nil && !p.found {
		err = ErrNoPolicy
	}
	return p.Policy, err
}

// A policyList is an account's policies without their documents.
type policyList struct {
	account int64
	list    []Policy
}

func (p *policyList) read() store.Statement {
	p.list = nil
	return store.Statement{Name: "list_policies", Args: []any{p.account}, Scan: func(r store.Row) error {
		one, changed := Policy{Account: p.account}, int64(0)
		err := r.Scan(&one.Name, &one.Version, &changed, &one.Size)
		one.Changed = timeOf(changed)
		p.list = append(p.list, one)
		slices.SortFunc(p.list, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) }) // as bytes, which a database may not do
		return err
	}}
}

// admits returns an error if a document of a size would exceed the account's bounds.
func (p *policyList) admits(name string, size int) error {
	others, bytes := 0, int64(size)
	for _, one := range p.list {
		if one.Name != name {
			others, bytes = others+1, bytes+one.Size
		}
	}
	switch {
	case others >= MaxPolicies:
		return ErrTooManyPolicies
	case bytes > MaxPolicyStorage:
		return ErrPolicyStorage
	}
	return nil
}

// A policyRead reads one policy.
type policyRead struct {
	account int64
	name    string
	found   bool
	changes int64 // of the account's policies
	Policy
}

func (p *policyRead) read() store.Statement {
	p.found, p.Policy = false, Policy{Account: p.account, Name: p.name}
	return store.Statement{Name: "read_policy", Args: []any{p.account, p.name}, Scan: func(r store.Row) error {
		var changed int64
		err := r.Scan(&p.changes, &p.Document, &p.Version, &changed)
		p.found, p.Size, p.Changed = true, int64(len(p.Document)), timeOf(changed)
		return err
	}}
}

// checkDefault returns an error if a key cannot have the policy as its default.
func (p *policyRead) checkDefault() error {
	if p.name != "" && !p.found {
		return wrong("policy", fmt.Errorf("the account has no policy %q", p.name))
	}
	return nil
}

// InProgress returns the number of the account's requests in progress on this replica.
func (l *Ledger) InProgress(account int64) int { return l.views.requestsOf(account) }
