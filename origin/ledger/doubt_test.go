package ledger

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// newProxiedFixture returns a fixture with 100 points used, on a database behind a
// proxy that can cut its connections.
func newProxiedFixture(t *testing.T) (f *fixture, p *pgtest.Proxy) {
	s := pgtest.Need(t)
	p, err := s.Proxy()
	require.NoError(t, err)
	t.Cleanup(p.Close)
	url := pgtest.NeedDatabase(t)
	f = newFixture(t, p.URL(url), unlimitedTerms)
	f.url = url // so that exec and queryRow bypass the proxy
	f.request(100)
	return f, p
}

// If a commit loses its connection, the ledger first reads the outcome. A charge
// that was committed is answered, and one that was not is decided again.
func TestInDoubtCommitIsResolved(t *testing.T) {
	for name, cut := range map[string]pgtest.Moment{"not committed": pgtest.BeforeCommit, "committed": pgtest.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			f, p := newProxiedFixture(t)
			p.Cut(cut, 1)
			require.EqualValues(t, 120, f.request(20).Usage.Current)
			require.EqualValues(t, 1, p.Cuts())
			p.Cut(cut, 1)
			require.Equal(t, Good, f.retryable(1, 1).Verdict)
			require.EqualValues(t, 2, p.Cuts())
			require.Equal(t, Replayed, f.retryable(1, 1).Verdict)
			f.requireHistory(Tally{Points: 125, Requests: 4})
		})
	}
}

// A caller gets ErrUndecided if the outcome takes too long to read. A charge that
// was committed is given back, unless a retry with the Idempotency-Key finds the
// answer.
func TestInDoubtTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		cut        pgtest.Moment
		plain, key int64 // points that remain charged
	}{"not committed": {pgtest.BeforeCommit, 0, 0}, "committed": {pgtest.AfterCommit, 0, 5}} {
		t.Run(name, func(t *testing.T) {
			f, p := newProxiedFixture(t)
			p.Shut(true) // after the cut, no connection works
			p.Cut(c.cut, 1)
			require.ErrorIs(t, f.chargeInHurry(20, nil), ErrUndecided)
			_, _, err := f.Begin(f.ctx, f.secret, "")
			require.ErrorIs(t, err, ErrUnavailable, "no request is admitted meanwhile")
			require.ErrorIs(t, f.Ready(f.ctx), ErrUnavailable)
			p.Shut(false)
			f.awaitReady()
			f.awaitUsed(100 + c.plain)

			p.Shut(true)
			p.Cut(c.cut, 1)
			require.ErrorIs(t, f.chargeInHurry(5, idempotency(1, 1)), ErrUndecided)
			p.Shut(false)
			f.awaitReady()
			f.awaitUsed(100 + c.plain + c.key)
			verdict := map[bool]Verdict{true: Replayed, false: Good}[c.key > 0]
			require.Equal(t, verdict, f.retryable(1, 1).Verdict)
			require.EqualValues(t, 105, f.used())
			require.EqualValues(t, 105, f.history().Points)
			require.EqualValues(t, 105, f.history().Valid)
		})
	}
}

// awaitUsed waits until the account has used the points and no void is due.
func (f *fixture) awaitUsed(points int64) {
	f.Helper()
	require.Eventually(f, func() bool { return f.used() == points && f.Stats().Undecided == 0 }, hung, time.Millisecond, "the account has not used %d points", points)
}

// A void that is in doubt itself is applied once.
func TestInDoubtVoid(t *testing.T) {
	for name, cut := range map[string]pgtest.Moment{"not committed": pgtest.BeforeCommit, "committed": pgtest.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			f, p := newProxiedFixture(t)
			p.Shut(true)
			p.Cut(pgtest.AfterCommit, 1)
			require.ErrorIs(t, f.chargeInHurry(20, nil), ErrUndecided)
			p.Cut(cut, 1) // the next commit is that of the void
			p.Shut(false)
			f.awaitReady()
			f.awaitUsed(100)
			require.EqualValues(t, 2, p.Cuts())
			require.EqualValues(t, 1, f.Stats().Voided)
			f.request(1) // in a later group
			require.EqualValues(t, 101, f.used())
			require.EqualValues(t, 101, f.history().Points)
		})
	}
}

// A void changes nothing if a month has begun since the charge.
func TestVoidAfterMonthEnd(t *testing.T) {
	k := consumption{month: 5, used: 7}
	k.void(3, 4)
	require.Equal(t, consumption{month: 5, used: 7}, k)
	k.void(9, 5)
	require.Equal(t, consumption{month: 5, used: 0, changed: true}, k, "an operator has changed used in between")
}

// If connections are cut before and after commits under load, exactly the requests
// that were answered with Good are charged.
func TestInDoubtUnderLoad(t *testing.T) {
	f, p := newProxiedFixture(t)
	paid := f.payWhile(func(_, _ *atomic.Int64) {
		for i := range int64(30) {
			p.Cut(pgtest.Moment(i%2), 1)
			require.Eventually(t, func() bool { return p.Cuts() > i }, hung, time.Millisecond)
		}
	})
	f.awaitUsed(100 + paid)
	require.Equal(t, 100+paid, f.history().Points)
}
