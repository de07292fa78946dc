package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func (f *fixture) finish(r *Request, points int64) Decision {
	f.Helper()
	return must(tryFinish(r, points, nil))(f)
}

// beginAtOnce begins a request on each of two replicas with one token for both. If a slow
// machine lets the second replica know what the first one took, it is tried again.
func (f *fixture) beginAtOnce(other *fixture) []*Request {
	f.Helper()
	for range 100 {
		first := f.mustBegin()
		second, d := must2(other.Begin(f.ctx, other.secret, ""))(f)
		if d.Kind == Good {
			return []*Request{first, second}
		}
		first.End()
		f.clock.advance(time.Second)
	}
	require.FailNow(f, "the second replica always knew")
	return nil
}

// If two replicas take the same token, one of their requests is refused late: its
// context is cancelled and it is not charged.
func TestLateRefusalCancelsRequest(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(book.Unlimited)}, func(t *testing.T, f *fixture) {
		other := f.replica()
		other.request(0) // takes the only token, which this replica's view does not show
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(0).Kind)
		f.clock.advance(time.Second)

		requests := f.beginAtOnce(other) // one too many
		late := 0
		require.Eventually(t, func() bool {
			late = 0
			for _, r := range requests {
				if d, refused := r.Late(); refused {
					late++
					require.Equal(t, RateLimited, d.Kind)
					require.Positive(t, d.RetryAfter)
					require.ErrorIs(t, r.Context().Err(), context.Canceled)
				}
			}
			return late > 0
		}, hung, 10*time.Millisecond)
		require.Equal(t, 1, late)
		good := 0
		for i, r := range requests {
			if []*fixture{f, other}[i].finish(r, 1).Kind == Good {
				good++
			}
		}
		require.Equal(t, 1, good)
		require.EqualValues(t, 1, f.used())
	})
}

// Requests beyond the rate cause at most one query per maxRefuse, and their
// RetryAfter counts down.
func TestFloodRarelyAsksTheDatabase(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(10)}, func(t *testing.T, f *fixture) {
		require.Equal(t, Good, f.request(1).Kind)
		before := f.Stats()
		for range 1000 {
			d := f.request(1)
			require.Equal(t, RateLimited, d.Kind)
			require.Equal(t, time.Second, d.RetryAfter)
			require.Equal(t, &Usage{Current: 1, Limit: 10}, d.Usage)
		}
		require.Equal(t, before.Reads, f.Stats().Reads)
		require.Equal(t, before.Charges, f.Stats().Charges)
		for n := range 5 {
			f.clock.advance(maxRefuse + 1)
			for range 100 {
				require.Equal(t, time.Second-time.Duration(n+1)*(maxRefuse+1), f.request(1).RetryAfter)
			}
			require.EqualValues(t, n+1, f.Stats().Reads-before.Reads)
		}
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(1).Kind)
	})
}
