package signuphook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/addrspec/addrspec/origin/ledger"
)

// Payers has the secrets with which hooks charge their accounts. It is safe for
// concurrent use.
type Payers struct {
	ledger *ledger.Ledger
	create singleflight.Group
	mu     sync.Mutex
	secret map[payer]paidBy
}

// A payer is a hook and its account, which a new file may change.
type payer struct{ hook, account string }

type paidBy struct {
	secret string
	until  time.Time // by this machine's clock
}

const (
	renewBefore = 5 * time.Minute  // the end of a secret
	createTime  = 10 * time.Second // to create one
)

// ErrPayer means that an account cannot pay for a hook, whatever the database does: it
// is gone, or its owner revoked the hook's key.
var ErrPayer = errors.New("the account cannot pay")

// NewPayers returns Payers for the accounts of a ledger.
func NewPayers(l *ledger.Ledger) *Payers {
	return &Payers{ledger: l, secret: map[payer]paidBy{}}
}

// Secret returns a secret of the hook's key. Requests that need a new one at the same
// time share it, so none is cancelled with the request that asked first.
func (p *Payers) Secret(ctx context.Context, h *Hook) (string, error) {
	of := payer{h.Name, h.Account}
	p.mu.Lock()
	known, found := p.secret[of]
	p.mu.Unlock()
	if found && time.Now().Before(known.until) {
		return known.secret, nil
	}
	created := p.create.DoChan(of.hook+" "+of.account, func() (any, error) { return p.renew(context.WithoutCancel(ctx), of) })
	select {
	case r := <-created:
		secret, _ := r.Val.(string)
		return secret, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Drop forgets a secret that was refused.
func (p *Payers) Drop(h *Hook, secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := payer{h.Name, h.Account}
	if p.secret[of].secret == secret {
		delete(p.secret, of)
	}
}

func (p *Payers) renew(ctx context.Context, of payer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, createTime)
	defer cancel()
	account, err := p.ledger.AccountByEmail(ctx, of.account)
	if err == nil && !account.Suspended.IsZero() {
		return "", fmt.Errorf("%w: it is suspended", ErrPayer)
	}
	if err != nil {
		return "", cannotPay(err)
	}
	start := time.Now()
	secret, expires, err := p.ledger.HookSecret(ctx, account.ID, of.hook)
	if err != nil {
		return "", cannotPay(err)
	}
	now, err := p.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret[of] = paidBy{secret, start.Add(max(expires.Sub(now)-renewBefore, time.Second))}
	return secret, nil
}

// cannotPay marks the errors that remain until somebody changes something. They have
// no email.
func cannotPay(err error) error {
	switch {
	case errors.Is(err, ledger.ErrNoAccount):
		return fmt.Errorf("%w: there is no such account", ErrPayer)
	case errors.Is(err, ledger.ErrRevoked):
		return fmt.Errorf("%w: its owner revoked the hook's key; give the hook another name, or another account", ErrPayer)
	case errors.Is(err, ledger.ErrTooManyKeys), errors.Is(err, ledger.ErrTooManyActiveKeys):
		return fmt.Errorf("%w: it has too many keys to get one for the hook", ErrPayer)
	}
	return err
}

// A Registry has the hooks in use, which a reload replaces. It is safe for concurrent
// use.
type Registry struct {
	Payers *Payers
	mu     sync.RWMutex
	set    *Set
}

// NewRegistry returns a registry with the hooks of a file.
func NewRegistry(s *Set, p *Payers) *Registry { return &Registry{set: s, Payers: p} }

// Find returns the hook with a name, or nil; a nil registry has none.
func (r *Registry) Find(name string) *Hook {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.set.Find(name)
}

// Replace puts the hooks of a reloaded file in use.
func (r *Registry) Replace(s *Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set = s
}
