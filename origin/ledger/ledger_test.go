package ledger

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A countingStore records how many transactions run at the same time.
type countingStore struct {
	store.Store
	running, most atomic.Int64
}

func (s *countingStore) Transact(context.Context, store.Transaction) error {
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	time.Sleep(time.Millisecond) // real time: a transaction takes a while
	return nil
}

func (s *countingStore) Query(context.Context, store.Statement) error {
	return s.Transact(context.Background(), store.Transaction{})
}

func TestSideQueriesAreFew(t *testing.T) {
	counting := new(countingStore)
	side := newSideStore(counting)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { require.NoError(t, side.Query(t.Context(), store.Statement{})) })
	}
	wait.Wait()
	require.LessOrEqual(t, counting.most.Load(), int64(maxSideQueries))
}

func TestSideTransactionsRunOneAtATime(t *testing.T) {
	counting := new(countingStore)
	side := newSideStore(counting)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { require.NoError(t, side.Transact(t.Context(), store.Transaction{})) })
	}
	wait.Wait()
	require.EqualValues(t, 1, counting.most.Load())

	side.slot <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, side.Transact(ctx, store.Transaction{}), context.DeadlineExceeded, "it does not wait for ever")
}

// No error contains a secret, its digest or an email address.
func TestErrorsContainNoSecrets(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		under := f.mustBegin()
		_, err := under.Claim(1, nil)
		require.NoError(t, err)
		const canary = "canary@example.com"
		_, err = f.CreateAccount(f.ctx, canary, Terms{})
		require.NoError(t, err)

		errs := []error{}
		collect := func(err error) {
			require.Error(t, err)
			errs = append(errs, err)
		}
		_, err = f.CreateAccount(f.ctx, canary, Terms{})
		collect(err)
		_, err = f.CreateAccount(f.ctx, canary+" x", Terms{})
		collect(err)
		_, err = f.AccountByEmail(f.ctx, "x"+canary)
		collect(err)
		cancelled, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err = f.AccountByEmail(cancelled, canary)
		collect(err)

		f.hideTables()
		_, err = under.Charge(Charge{Points: 1, Response: []byte(canary)})
		collect(err)
		under.End()
		_, _, err = f.Begin(f.ctx, f.secret, "")
		collect(err)
		_, _, err = f.CreateKey(f.ctx, f.account, canary, KeyTerms{})
		collect(err)
		_, err = f.CreateAccount(f.ctx, "y"+canary, Terms{})
		collect(err)
		_, err = f.AccountByEmail(f.ctx, canary)
		collect(err)
		for _, err := range errs {
			text := fmt.Sprintf("%+v %#v", err, err.Error())
			require.NotContains(t, text, "canary")
			require.NotContains(t, text, f.secret[4:])
			require.NotContains(t, text, digestOf(f.secret).hex())
		}
		f.restoreTables()
	})
}

// hideTables renames tables, so that statements fail.
func (f *fixture) hideTables() { f.rename("%s", "%s_gone") }

// restoreTables reverts hideTables.
func (f *fixture) restoreTables() { f.rename("%s_gone", "%s") }

func (f *fixture) rename(from, to string) {
	f.Helper()
	for _, table := range []string{"accounts", "keys", "usage"} {
		f.exec("ALTER TABLE " + fmt.Sprintf(from, table) + " RENAME TO " + fmt.Sprintf(to, table))
	}
}
