package ledger

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// doubtful begins a ledger behind a proxy that can cut its connections, with
// 100 points paid.
func doubtful(t *testing.T) (b *bench, p *pgtest.Proxy) {
	s := needPostgres(t)
	p, err := s.Proxy()
	require.NoError(t, err)
	t.Cleanup(p.Close)
	url := s.emptyDatabase(t)
	b = begin(t, p.URL(url), plenty)
	b.url = url // what a test looks up goes past the proxy
	b.ask(100)
	return b, p
}

// However a commit is cut, its caller gets an answer that is true, once the
// ledger has found out: what was committed is answered, and what was not is
// decided again.
func TestDoubtIsResolvedBeforeTheAnswer(t *testing.T) {
	for name, cut := range map[string]pgtest.Moment{"not committed": pgtest.BeforeCommit, "committed": pgtest.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			b, p := doubtful(t)
			p.Cut(cut, 1)
			require.EqualValues(t, 120, b.ask(20).Usage.Current)
			require.EqualValues(t, 1, p.Cuts())
			p.Cut(cut, 1)
			require.Equal(t, Good, b.repeat(1, 1).Verdict)
			require.EqualValues(t, 2, p.Cuts())
			require.Equal(t, Replayed, b.repeat(1, 1).Verdict)
			b.requireHistory(Tally{Points: 125, Requests: 4})
		})
	}
}

// A caller who waits no longer gets ErrUndecided. If the charge was committed,
// it is given back, unless a retry with the Idempotency-Key finds the answer.
func TestDoubtThatLastsTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		cut        pgtest.Moment
		plain, key int64 // points that stay
	}{"not committed": {pgtest.BeforeCommit, 0, 0}, "committed": {pgtest.AfterCommit, 0, 5}} {
		t.Run(name, func(t *testing.T) {
			b, p := doubtful(t)
			p.Shut(true) // nothing gets through after the cut
			p.Cut(c.cut, 1)
			begun := time.Now()
			_, err := b.try(b.ctx, b.secret, 20, nil)
			require.ErrorIs(t, err, ErrUndecided)
			require.Less(t, time.Since(begun), patience+500*time.Millisecond)
			_, _, err = b.Begin(b.ctx, b.secret)
			require.ErrorIs(t, err, ErrUnavailable, "nobody works meanwhile")
			require.ErrorIs(t, b.Ready(b.ctx), ErrUnavailable)
			p.Shut(false)
			b.awaitReady()
			b.awaitUsed(100 + c.plain)

			p.Shut(true)
			p.Cut(c.cut, 1)
			_, err = b.try(b.ctx, b.secret, 5, once(1, 1))
			require.ErrorIs(t, err, ErrUndecided)
			p.Shut(false)
			b.awaitReady()
			b.awaitUsed(100 + c.plain + c.key)
			verdict := map[bool]Verdict{true: Replayed, false: Good}[c.key > 0]
			require.Equal(t, verdict, b.repeat(1, 1).Verdict)
			require.EqualValues(t, 105, b.used())
			require.EqualValues(t, 105, b.history().Points)
			require.EqualValues(t, 105, b.history().Valid)
		})
	}
}

// awaitUsed waits for the account's points, voids included.
func (b *bench) awaitUsed(points int64) {
	b.Helper()
	require.Eventually(b, func() bool { return b.used() == points && b.Stats().Undecided == 0 }, 20*time.Second, time.Millisecond, "used, wanted %d", points)

}

// A void is in doubt itself: it is done once.
func TestDoubtOfAVoid(t *testing.T) {
	for name, cut := range map[string]pgtest.Moment{"not committed": pgtest.BeforeCommit, "committed": pgtest.AfterCommit} {
		t.Run(name, func(t *testing.T) {
			b, p := doubtful(t)
			p.Shut(true)
			p.Cut(pgtest.AfterCommit, 1)
			_, err := b.try(b.ctx, b.secret, 20, nil)
			require.ErrorIs(t, err, ErrUndecided)
			p.Cut(cut, 1) // the next commit is the void's
			p.Shut(false)
			b.awaitReady()
			b.awaitUsed(100)
			require.EqualValues(t, 2, p.Cuts())
			require.EqualValues(t, 1, b.Stats().Voided)
			time.Sleep(3 * postEvery)
			require.EqualValues(t, 100, b.used())
			require.EqualValues(t, 100, b.history().Points)
		})
	}
}

// A month that begins between a charge and its void is not given points.
func TestVoidOfAMonthThatIsOver(t *testing.T) {
	k := consumption{month: 5, used: 7}
	k.void(3, 4)
	require.Equal(t, consumption{month: 5, used: 7}, k)
	k.void(9, 5)
	require.Equal(t, consumption{month: 5, used: 0, changed: true}, k, "an operator has changed used in between")
}

// Under load, with connections cut before and after commits, what was answered
// is what is charged.
func TestDoubtUnderLoad(t *testing.T) {
	b, p := doubtful(t)
	var paid, undecided atomic.Int64
	paid.Store(100)
	var enough atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(8, func(int) {
			for !enough.Load() {
				d, err := b.try(b.ctx, b.secret, 3, nil)
				if err == nil && d.Verdict == Good {
					paid.Add(3)
				} else {
					undecided.Add(1)
				}
			}
		})
	}()
	for i := range int64(30) {
		p.Cut(pgtest.Moment(i%2), 1)
		require.Eventually(t, func() bool { return p.Cuts() > i }, 20*time.Second, time.Millisecond)
	}
	enough.Store(true)
	<-done
	b.awaitReady()
	b.awaitUsed(paid.Load())
	require.Equal(t, paid.Load(), b.history().Points)
	t.Logf("%d points paid; %d requests without an answer", paid.Load(), undecided.Load())
}
