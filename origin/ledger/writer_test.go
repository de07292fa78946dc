package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// If an operator has damaged the row of an account, only its charges fail. Others
// in the same commit group are charged.
func TestDataErrorFailsOneAccount(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		all, results := make([]*fixture, 16), make([]error, 16)
		for n := range all {
			all[n] = f.otherAccount(fmt.Sprintf("a%d@example.com", n))
			all[n].request(1)
		}
		// The next charge overflows a BIGINT.
		f.exec("UPDATE accounts SET used = 9223372036854775807 WHERE email = 'a3@example.com'")
		inParallel(len(all), func(n int) {
			for range 10 {
				_, results[n] = all[n].tryRequest(f.ctx, all[n].secret, 1, nil)
			}
		})
		for n, err := range results {
			if n == 3 {
				require.ErrorIs(t, err, ErrRecord)
			} else {
				require.NoError(t, err)
			}
		}
		require.NoError(t, f.Ready(f.ctx), "a damaged row is not an outage")
		require.Equal(t, Good, f.request(1).Kind)
	})
}

// If an operator deletes a key during its request, the request is not charged and
// others still are.
func TestKeyDeletedDuringRequest(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		doomed, key := f.newKey("doomed", book.KeyTerms{})
		under, d := must2(f.Begin(f.ctx, doomed, ""))(t)
		require.Equal(t, Good, d.Kind)
		f.exec("DELETE FROM secrets WHERE key = $1", key.ID)
		f.exec("DELETE FROM keys WHERE id = $1", key.ID)
		require.Equal(t, UnknownKey, f.finish(under, 1).Kind)
		f.awaitTallies() // the refusal cannot be recorded, since its key is gone
		require.Equal(t, Good, f.request(1).Kind)
		require.NoError(t, f.Ready(f.ctx))
		require.EqualValues(t, 1, f.used())
	})
}

// If an operator lowers used below a charge to be voided, the result is 0.
func TestVoidAfterUsedWasLowered(t *testing.T) {
	f, p := newProxiedFixture(t)
	p.Shut(true)
	p.Cut(pgtest.AfterCommit, 1)
	require.ErrorIs(t, f.chargeInHurry(20, nil), ErrUndecided)
	f.exec("UPDATE accounts SET used = 7")
	p.Shut(false)
	f.awaitReady()
	f.awaitUsed(0)
	require.Equal(t, Good, f.request(1).Kind)
}

// While the database cannot be written, requests in progress fail without a charge
// and no request is admitted. Afterwards requests are charged again.
func TestReadOnlyDatabase(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		f.request(10)
		under := f.mustBegin()
		must(under.Claim(5, nil))(t)
		reopen := f.blockWrites()
		f.inHurry()
		_, err := under.Charge(Charge{Points: 5})
		require.ErrorIs(t, err, store.ErrUnavailable)
		under.End()
		f.awaitDown()
		_, _, err = f.Begin(f.ctx, f.secret, "")
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.ErrorIs(t, f.Ready(f.ctx), store.ErrUnavailable)
		require.EqualValues(t, 10, f.used())

		reopen()
		f.awaitReady()
		require.EqualValues(t, 11, f.request(1).Usage.Current)
		require.EqualValues(t, 11, f.history().Points)
	})
}

// Tokens taken before an outage are written after it, and requests that were not
// charged are recorded.
func TestOutageKeepsTokens(t *testing.T) {
	f := newFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), book.Terms{Rate: limit(5), Points: limit(book.Unlimited)})
	f.request(1)
	reopen := f.blockWrites()
	for range 4 {
		f.request(0)
	}
	f.inHurry()
	f.awaitDown()
	reopen()
	f.awaitReady()
	other := f.replica()
	require.Eventually(t, func() bool {
		var tat int64
		f.queryRow("SELECT tat_ns FROM accounts WHERE id = 1", &tat)
		return tat >= f.clock.Now().Add(time.Second).UnixNano()
	}, hung, tick)
	require.Equal(t, RateLimited, other.request(0).Kind)
	f.requireHistory(book.Tally{Points: 1, Requests: 5, Errors: 4})
}

// Close commits the tickets in the queue; later ones get ErrClosed.
func TestCloseCommitsQueue(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		f.request(1) // so that no caller reads a view from the closed database
		var mu sync.Mutex
		succeeded := 1
		inParallel(16, func(int) {
			for {
				_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
				mu.Lock()
				if err != nil {
					require.ErrorIs(f, err, ErrClosed)
					mu.Unlock()
					return
				}
				if succeeded++; succeeded == 50 {
					go f.Close()
				}
				mu.Unlock()
			}
		})
		require.NoError(t, f.Close(), "a second Close does nothing")
		again := f.replica()
		require.EqualValues(t, succeeded, again.used())
		require.EqualValues(t, succeeded, again.history().Points)
	})
}

// Close returns an error if a charge could not be given back.
func TestCloseReportsVoids(t *testing.T) {
	var stall atomic.Pointer[chan struct{}]
	var broken atomic.Bool
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	f := newFixture(t, url, unlimitedTerms, hook(func(ctx context.Context, inner store.Store, t store.Transaction) error {
		if broken.Load() {
			return errors.New("broken")
		}
		err := inner.Transact(ctx, t)
		if stall := stall.Load(); stall != nil { // as if the disk's flush hung
			<-*stall
		}
		return err
	}))
	flush := make(chan struct{})
	stall.Store(&flush)
	require.ErrorIs(t, f.chargeInHurry(1, nil), ErrUndecided)
	broken.Store(true)
	close(flush)
	require.ErrorContains(t, f.Close(), "1 charges could not be given back")
	require.NoError(t, f.Close(), "a second Close does nothing")
	_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
	require.Error(t, err)
}

// newProxiedFixture returns a fixture with 100 points used, on a database behind a
// proxy that can cut its connections.
func newProxiedFixture(t *testing.T) (f *fixture, p *pgtest.Proxy) {
	s := pgtest.Need(t)
	p = must(s.Proxy())(t)
	t.Cleanup(p.Close)
	url := pgtest.NeedDatabase(t)
	f = newFixture(t, p.URL(url), unlimitedTerms)
	f.url = url // so that exec and queryRow bypass the proxy
	f.request(100)
	return f, p
}

// If a commit loses its connection, the ledger first reads the outcome. A charge
// that was committed gets a result, and one that was not is decided again.
func TestInDoubtCommitIsResolved(t *testing.T) {
	for name, cut := range map[string]pgtest.Moment{"not committed": pgtest.BeforeCommit, "committed": pgtest.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			f, p := newProxiedFixture(t)
			p.Cut(cut, 1)
			require.EqualValues(t, 120, f.request(20).Usage.Current)
			require.EqualValues(t, 1, p.Cuts())
			p.Cut(cut, 1)
			require.Equal(t, Good, f.retryable(1, 1).Kind)
			require.EqualValues(t, 2, p.Cuts())
			require.Equal(t, Replayed, f.retryable(1, 1).Kind)
			f.requireHistory(book.Tally{Points: 125, Requests: 4})
		})
	}
}

// awaitUsed waits until the account has used the points and no void is due.
func (f *fixture) awaitUsed(points int64) {
	f.Helper()
	require.Eventually(f, func() bool { return f.used() == points && f.Stats().Undecided == 0 }, hung, time.Millisecond, "the account has not used %d points", points)
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	mountSmallDisk(t, dir)
	f := newFixture(t, "sqlite:"+filepath.Join(dir, "x.db"), unlimitedTerms)
	f.request(10)

	filler := must(os.Create(filepath.Join(dir, "filler")))(t)
	_, err := io.Copy(filler, endless{})
	require.ErrorContains(t, err, "no space left")
	require.NoError(t, filler.Close())

	var succeeded int64 = 10
	// Until the write-ahead log has no page left. A page may be free again before Ready is asked.
	for err = nil; err == nil || f.Ready(f.ctx) == nil; {
		var d Decision
		if d, err = f.tryRequest(f.ctx, f.secret, 1, nil); err == nil {
			succeeded = d.Usage.Current
		}
	}
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, succeeded, f.used(), "nothing was charged")
	_, _, err = f.Begin(f.ctx, f.secret, "")
	require.ErrorIs(t, err, store.ErrUnavailable, "no request is admitted that cannot be charged")

	require.NoError(t, os.Remove(filler.Name()))
	f.awaitReady()
	require.Equal(t, succeeded+1, f.request(1).Usage.Current, "there is space again")
	require.Equal(t, succeeded+1, f.history().Points)
	require.Equal(t, []string{"ok"}, f.strings("PRAGMA integrity_check"))
}

// endless is an infinite stream of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// awaitDown waits until the ledger has found that the database does not commit.
func (f *fixture) awaitDown() {
	f.Helper()
	require.Eventually(f, func() bool { return f.Ready(f.ctx) != nil }, hung, time.Millisecond)
}

// awaitReady waits until the database commits again.
func (f *fixture) awaitReady() {
	f.Helper()
	require.Eventually(f, func() bool { return f.Ready(f.ctx) == nil }, hung, time.Millisecond)
	if f.timing.Wait == hurry {
		f.timing.Wait = hung
	}
}
