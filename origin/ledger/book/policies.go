package book

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of an account's policies. A document has 2.7 MB at most (core/policy).
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

// A Policy is a document of an account that turns facts into a verdict. It is kept as given.
type Policy struct {
	Account  int64
	Name     string
	Document string
	Size     int64     // of the document in bytes
	Version  int64     // rises with each change, and is never used again in the account; 0 if there is no policy
	Changed  time.Time // when the document was given
}

// CheckPolicyName returns an error if no policy can have the name.
func CheckPolicyName(name string) error {
	if name == "" || len(name) > maxPolicyName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return errPolicyName
	}
	return nil
}

const anyVersion = -1

// SetPolicy creates a policy or replaces its document, for requests that begin afterwards. The
// caller must have checked that the document is a policy, which needs the module
// (host.Engine.NewPolicy). It returns ErrTooManyPolicies or ErrPolicyStorage if the account would
// have too much.
func (b *Book) SetPolicy(ctx context.Context, account int64, name, document string) (Policy, error) {
	return b.ReplacePolicy(ctx, account, name, document, anyVersion)
}

// ReplacePolicy is SetPolicy for a document that was made from a version of the policy, 0 if
// there was none. It returns ErrPolicyChanged if that is not the version any more, unless the
// policy has the same document.
func (b *Book) ReplacePolicy(ctx context.Context, account int64, name, document string, version int64) (Policy, error) {
	if err := CheckPolicyName(name); err != nil {
		return Policy{}, err
	}
	if document == "" || !utf8.ValidString(document) || strings.ContainsRune(document, 0) { // PostgreSQL stores no zero byte
		return Policy{}, errDocument
	}
	var old Policy
	var all []Policy
	reads := func() []store.Statement {
		return []store.Statement{ReadPolicy(account, name, &old), listPolicies(account, &all)}
	}
	err := b.changeAccount(ctx, account, reads, func(a Account, now time.Time) ([]store.Statement, error) {
		if old.Version != 0 && old.Document == document {
			return nil, nil
		}
		others, bytes := 0, int64(len(document))
		for _, p := range all {
			if p.Name != name {
				others, bytes = others+1, bytes+p.Size
			}
		}
		err := ownerMay(ctx, a)
		switch {
		case version != anyVersion && version != old.Version:
			return nil, ErrPolicyChanged
		case err != nil:
			return nil, err
		case others >= MaxPolicies:
			return nil, ErrTooManyPolicies
		case bytes > MaxPolicyStorage:
			return nil, ErrPolicyStorage
		}
		return Audit(ctx, account, now, "policy.set", name,
			statement("count_policy_change", account), // so that every replica reads the policies again
			statement("put_policy", account, name, document, now.UnixNano())), nil
	})
	if err != nil {
		return Policy{}, err
	}
	return b.Policy(ctx, account, name)
}

// DeletePolicy deletes a policy. Requests in progress go on with it. It returns an error that wraps
// ErrPolicyInUse if the policy is the default of a key that is not revoked.
func (b *Book) DeletePolicy(ctx context.Context, account int64, name string) error {
	var old Policy
	var key int64
	reads := func() []store.Statement {
		key = 0
		return []store.Statement{ReadPolicy(account, name, &old), readRow("find_policy_key", []any{account, name}, &key)}
	}
	return b.changeAccount(ctx, account, reads, func(a Account, now time.Time) ([]store.Statement, error) {
		err := ownerMay(ctx, a)
		switch {
		case err != nil:
			return nil, err
		case old.Version == 0:
			return nil, ErrNoPolicy
		case key != 0:
			return nil, fmt.Errorf("key %d: %w", key, ErrPolicyInUse)
		}
		return Audit(ctx, account, now, "policy.delete", name,
			statement("count_policy_change", account), statement("delete_policy", account, name)), nil
	})
}

// Policies returns an account's policies by name, without their documents.
func (b *Book) Policies(ctx context.Context, account int64) (list []Policy, err error) {
	err = b.query(ctx, listPolicies(account, &list))
	slices.SortFunc(list, func(a, b Policy) int { return cmp.Compare(a.Name, b.Name) }) // as bytes, which a database may not do
	return list, err
}

// Policy returns the policy of an account with a name.
func (b *Book) Policy(ctx context.Context, account int64, name string) (p Policy, err error) {
	err = b.query(ctx, ReadPolicy(account, name, &p))
	if err == nil && p.Version == 0 {
		err = ErrNoPolicy
	}
	return p, err
}

func listPolicies(account int64, list *[]Policy) store.Statement {
	*list = nil
	return store.Statement{Name: "list_policies", Args: []any{account}, Scan: func(r store.Row) error {
		p := Policy{Account: account}
		err := r.Scan(&p.Name, &p.Version, unixTime{&p.Changed}, &p.Size)
		*list = append(*list, p)
		return err
	}}
}

// ReadPolicy returns the statement that reads a policy to p, whose version is 0 if there is none.
func ReadPolicy(account int64, name string, p *Policy) store.Statement {
	*p = Policy{Account: account, Name: name}
	return store.Statement{Name: "read_policy", Args: []any{account, name}, Scan: func(r store.Row) error {
		err := r.Scan(&p.Document, &p.Version, unixTime{&p.Changed})
		p.Size = int64(len(p.Document))
		return err
	}}
}
