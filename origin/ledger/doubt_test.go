package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// doubtful begins a ledger behind a proxy, with one admission of 10 points
// under an idempotency key and one of 20 without under way, and 100 paid.
func doubtful(t *testing.T) (b *bench, p *proxy, keyed, plain Admission) {
	s := needPostgres(t)
	p = startProxy(t, s)
	b = begin(t, pgtest.URLAt(p.dir, s.emptySchema(t)), plenty)
	b.ask(100)
	r := b.once(1, 1)
	r.Points = 10
	keyed, plain = b.send(r), b.ask(20)
	require.EqualValues(t, 130, b.used())
	return b, p, keyed, plain
}

// Whatever became of the commit, a caller that was told of a failure pays nothing.
func TestDoubtOfAnAdmission(t *testing.T) {
	for name, cut := range map[string]int32{"not committed": cutBeforeCommit, "committed": cutAfterCommit} {
		t.Run(name, func(t *testing.T) {
			b, p, _, _ := doubtful(t)
			p.cut.Store(cut)
			_, err := b.Admit(b.ctx, b.once(2, 2))
			require.ErrorIs(t, err, ErrUnavailable)
			require.EqualValues(t, 1, p.cuts.Load())

			b.rest()
			require.EqualValues(t, 130, b.used())
			require.EqualValues(t, 130, b.history().Points)
			require.Equal(t, Admitted, b.send(b.once(2, 2)).Verdict, "its idempotency key is free")
			require.EqualValues(t, 135, b.used())
		})
	}
}

// A settlement that failed gives everything back, once.
func TestDoubtOfASettlement(t *testing.T) {
	for name, cut := range map[string]int32{"not committed": cutBeforeCommit, "committed": cutAfterCommit} {
		for kind, s := range map[string]Settlement{
			"answered": {Refund: 3, Answer: []byte("answer")},
			"failed":   {Failed: true},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				b, p, keyed, plain := doubtful(t)
				p.cut.Store(cut)
				_, err := b.Settle(b.ctx, keyed, s)
				require.ErrorIs(t, err, ErrUnavailable)
				b.rest()
				require.EqualValues(t, 120, b.used())
				require.Equal(t, Admitted, b.send(b.once(1, 2)).Verdict, "its idempotency key is free")

				p.cut.Store(cut)
				_, err = b.Settle(b.ctx, plain, s)
				require.ErrorIs(t, err, ErrUnavailable)
				b.rest()
				require.EqualValues(t, 105, b.used())
				require.EqualValues(t, 105, b.history().Points)
				require.EqualValues(t, 2, p.cuts.Load())
			})
		}
	}
}

// What is owed is given back once, though the connection is lost again just then.
func TestDoubtOfWhatIsOwed(t *testing.T) {
	for name, cut := range map[string]int32{"not committed": cutBeforeCommit, "committed": cutAfterCommit} {
		t.Run(name, func(t *testing.T) {
			b, p, _, plain := doubtful(t)
			p.cut.Store(cut)
			b.owed.add(plain.charge)
			require.Eventually(t, func() bool { return p.cuts.Load() == 1 }, patience, retryEvery/10)
			b.rest()
			require.EqualValues(t, 110, b.used())
			require.EqualValues(t, 110, b.history().Points)
		})
	}
}

// After a crash another's transaction may bear the number of one that was lost:
// that it is committed says nothing, the mark decides.
func TestDoubtOfANumberGivenAnew(t *testing.T) {
	b := begin(t, needPostgres(t).emptyDatabase(t), plenty)
	b.ask(1)
	p := b.store.(*postgres)
	var others string
	require.NoError(t, p.pool.QueryRow(b.ctx, "SELECT pg_current_xact_id()::text").Scan(&others))
	for batch, want := range map[int64]bool{p.batches: true, p.batches + 1: false} {
		tx := &pgTransaction{postgres: p, id: others, batch: batch}
		committed, err := tx.committed(b.ctx)
		require.NoError(t, err)
		require.Equal(t, want, committed)
	}
}
