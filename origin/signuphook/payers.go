package signuphook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Payers has the secrets with which hooks charge their accounts. It is safe for concurrent use.
type Payers struct {
	ledger  *ledger.Ledger
	secrets *otter.Cache[payer, secret]
}

// A payer is a hook and its account, which a new file may change.
type payer struct{ hook, account string }

type secret struct {
	text string
	life time.Duration // how long to use it, by the database's clock
}

const (
	maxSecrets  = 10_000           // in memory; a file has 100 hooks, and may be reloaded with others
	renewBefore = 5 * time.Minute  // the end of a secret
	createTime  = 10 * time.Second // to create one
)

// ErrPayer means that an account cannot pay for a hook, whatever the database does: it
// is gone, or its owner revoked the hook's key. The errors that wrap it have no email.
var ErrPayer = errors.New("the account cannot pay")

// CheckAccounts returns an error that names each hook whose account does not exist. It has no email.
func (s *Set) CheckAccounts(ctx context.Context, l *ledger.Ledger) (missing error) {
	for _, h := range s.hooks {
		_, err := l.AccountByEmail(ctx, h.Account)
		switch {
		case errors.Is(err, book.ErrNoAccount):
			missing = errors.Join(missing, fmt.Errorf(`hook %s: "account": %w; create it, or remove the hook`, h.Name, err))
		case err != nil:
			return err
		}
	}
	return missing
}

// NewPayers returns Payers for the accounts of a ledger.
func NewPayers(l *ledger.Ledger) *Payers {
	return &Payers{l, otter.Must(&otter.Options[payer, secret]{
		MaximumSize: maxSecrets,
		Logger:      &otter.NoopLogger{},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[payer, secret]) time.Duration {
			return e.Value.life
		}),
	})}
}

// Secret returns a secret of the hook's key. Requests that need a new one at the same
// time share it, so none is cancelled with the request that asked first.
func (p *Payers) Secret(ctx context.Context, h *Hook) (string, error) {
	s, err := p.secrets.Get(ctx, payer{h.Name, h.Account}, otter.LoaderFunc[payer, secret](p.create))
	return s.text, err
}

func (p *Payers) create(ctx context.Context, of payer) (none secret, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer cancel()
	account, err := p.ledger.AccountByEmail(ctx, of.account)
	if err == nil && !account.Suspended.IsZero() {
		return none, fmt.Errorf("%w: it is suspended", ErrPayer)
	}
	var text string
	var expires time.Time
	if err == nil {
		text, expires, err = p.ledger.HookSecret(ctx, account.ID, of.hook)
	}
	switch {
	case errors.Is(err, book.ErrNoAccount):
		return none, fmt.Errorf("%w: there is no such account", ErrPayer)
	case errors.Is(err, book.ErrRevoked):
		return none, fmt.Errorf("%w: its owner revoked the hook's key; "+
			"give the hook another name, or another account", ErrPayer)
	case errors.Is(err, book.ErrTooManyKeys), errors.Is(err, book.ErrTooManyActiveKeys):
		return none, fmt.Errorf("%w: it has too many keys to get one for the hook", ErrPayer)
	case err != nil:
		return none, err
	}
	now, err := p.ledger.Now(ctx)
	return secret{text, max(expires.Sub(now)-renewBefore, time.Second)}, err
}

// Drop forgets a secret that was refused, unless it was replaced meanwhile.
func (p *Payers) Drop(h *Hook, refused string) {
	p.secrets.ComputeIfPresent(payer{h.Name, h.Account}, func(old secret) (secret, otter.ComputeOp) {
		if old.text == refused {
			return old, otter.InvalidateOp
		}
		return old, otter.CancelOp
	})
}
