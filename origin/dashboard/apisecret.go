package dashboard

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	maxSecrets  = 10_000           // accounts whose secret is in memory
	renewBefore = 5 * time.Minute  // the end of a secret
	secretTime  = 10 * time.Second // to create one
)

// apiSecrets has a secret of the dashboard key of each account that checks
// addresses here. Secrets are in memory only; the database has their hashes.
type apiSecrets struct {
	ledger *ledger.Ledger
	cache  *otter.Cache[int64, apiSecret]
}

type apiSecret struct {
	text string
	life time.Duration // how long to use it, by the database's clock
}

func newAPISecrets(l *ledger.Ledger) *apiSecrets {
	return &apiSecrets{l, otter.Must(&otter.Options[int64, apiSecret]{
		MaximumSize: maxSecrets,
		Logger:      &otter.NoopLogger{},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[int64, apiSecret]) time.Duration {
			return e.Value.life
		}),
	})}
}

// get returns a secret of the account. Requests that need a new one at the same
// time share it, so none is cancelled with the request that asked first.
func (s *apiSecrets) get(ctx context.Context, account int64) (string, error) {
	secret, err := s.cache.Get(context.WithoutCancel(ctx), account, otter.LoaderFunc[int64, apiSecret](s.create))
	return secret.text, err
}

func (s *apiSecrets) create(ctx context.Context, account int64) (apiSecret, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	text, expires, err := s.ledger.DashboardSecret(ctx, account)
	if err != nil {
		return apiSecret{}, err
	}
	now, err := s.ledger.Now(ctx)
	return apiSecret{text, max(expires.Sub(now)-renewBefore, time.Second)}, err
}

// drop forgets a secret that the API refused, unless it was replaced meanwhile.
func (s *apiSecrets) drop(account int64, text string) {
	s.cache.ComputeIfPresent(account, func(old apiSecret) (apiSecret, otter.ComputeOp) {
		if old.text == text {
			return old, otter.InvalidateOp
		}
		return old, otter.CancelOp
	})
}
