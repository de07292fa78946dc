package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// once is a request of five points with an idempotency key.
func (b *bench) once(id, body byte) Request {
	return Request{Key: b.secret, Points: 5, Idempotency: &Idempotency{ID: [32]byte{id}, Body: [32]byte{body}}}
}

func TestIdempotencyTellsAStory(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(12)})
		first := b.send(b.once(1, 1))
		require.Equal(t, Admitted, first.Verdict)
		require.Equal(t, IdempotencyConflict, b.send(b.once(1, 1)).Verdict, "the first is under way")
		require.Equal(t, IdempotencyMismatch, b.send(b.once(1, 2)).Verdict, "another body never fits")
		require.EqualValues(t, 4, b.settle(first, Settlement{Refund: 1, Answer: []byte("answer")}).Current)

		again := b.send(b.once(1, 1))
		require.Equal(t, Replayed, again.Verdict)
		require.Equal(t, "answer", string(again.Replay))
		require.EqualValues(t, 4, again.Usage.Current, "at no cost")
		require.Equal(t, again.Usage, b.settle(again, Settlement{}), "with nothing to settle")
		require.Equal(t, IdempotencyMismatch, b.send(b.once(1, 2)).Verdict)

		other := b.send(b.once(2, 1))
		require.Equal(t, Admitted, other.Verdict, "another key is another request")
		require.Equal(t, Insufficient, b.send(b.once(3, 1)).Verdict)
		require.Equal(t, Replayed, b.send(b.once(1, 1)).Verdict, "an answer is replayed without points left")

		b.settle(other, Settlement{Failed: true})
		b.clock.advance(Retention)
		require.Equal(t, Admitted, b.send(b.once(1, 2)).Verdict, "after a day the key is new")
		require.Equal(t, b.used(), b.history().Points)
		require.Equal(t, Tally{Points: 9, Requests: 9, Errors: 5}, b.history(), "a replay is no error")
	})
}

func TestIdempotencyOfAnEmptyAnswer(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.settle(b.send(b.once(1, 1)), Settlement{})
		again := b.send(b.once(1, 1))
		require.Equal(t, Replayed, again.Verdict)
		require.Empty(t, again.Replay)
	})
}

func TestIdempotencyOfTwoAccounts(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.settle(b.send(b.once(1, 1)), Settlement{Answer: []byte("mine")})
		second, _, err := b.CreateKey(b.ctx, b.account, "second")
		require.NoError(t, err)
		r := b.once(1, 1)
		r.Key = second
		require.Equal(t, Replayed, b.send(r).Verdict, "the account's keys share it")

		other, err := b.CreateAccount(b.ctx, "other@example.com", plenty)
		require.NoError(t, err)
		r.Key, _, err = b.CreateKey(b.ctx, other.ID, "test")
		require.NoError(t, err)
		require.Equal(t, Admitted, b.send(r).Verdict, "another account does not see it")
	})
}

func TestIdempotencyAfterAFailure(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.settle(b.send(b.once(1, 1)), Settlement{Failed: true})
		require.Equal(t, Admitted, b.send(b.once(1, 1)).Verdict, "what failed may be tried again")
		require.EqualValues(t, 5, b.used(), "and is charged once")
	})
}

// A process that dies leaves its charge and its idempotency key behind. The
// retry takes both over.
func TestIdempotencyAfterTheLease(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty, WithLease(30*time.Second))
		b.clock.set("2026-11-30T23:59:45Z")
		dead := b.send(b.once(1, 1))
		b.clock.advance(30*time.Second - 1)
		require.Equal(t, IdempotencyConflict, b.send(b.once(1, 1)).Verdict)
		b.clock.advance(1)
		retry := b.send(b.once(1, 1))
		require.Equal(t, Admitted, retry.Verdict)
		require.Equal(t, Tally{Points: 5, Requests: 3, Errors: 1}, b.history(), "charged once, in December")

		_, err := b.Settle(b.ctx, dead, Settlement{Answer: []byte("late")})
		require.ErrorIs(t, err, ErrLeaseLost, "the first was only slow; its answer comes too late")
		b.settle(retry, Settlement{Answer: []byte("answer")})
		require.Equal(t, "answer", string(b.send(b.once(1, 1)).Replay))
		require.EqualValues(t, 5, b.used())
	})
}

// What nobody retries is given back, too, and answers past their time are deleted.
func TestIdempotencyIsForgotten(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.send(b.once(1, 1))
		b.settle(b.send(b.once(2, 1)), Settlement{Answer: []byte("answer")})
		require.EqualValues(t, 10, b.used())
		forget := (&writer{Ledger: b.Ledger}).forget

		forget()
		require.EqualValues(t, 10, b.used(), "nothing is due yet")
		b.clock.advance(DefaultLease)
		forget()
		require.EqualValues(t, 5, b.used())
		require.EqualValues(t, 5, b.history().Points)
		require.Equal(t, Replayed, b.send(b.once(2, 1)).Verdict)
		require.Equal(t, 1, b.holds())

		b.send(b.once(3, 1))
		b.clock.advance(Retention)
		require.NoError(t, b.store.transact(b.ctx, noReads, purge))
		require.Equal(t, 1, b.holds(), "what was charged for no answer is not forgotten before it is given back")
		forget()
		require.Zero(t, b.holds())
		require.EqualValues(t, 5, b.history().Points)
	})
}

// holds counts the idempotency keys in the database.
func (b *bench) holds() (n int) {
	b.Helper()
	for id := range byte(5) {
		r := b.once(id, 1)
		a := &book{holds: map[holdKey]*hold{}}
		w := []wantedHold{{Account: b.account, ID: toHex(r.Idempotency.ID[:])}}
		require.NoError(b, b.query(b.ctx, statement{name: "read_holds", args: []any{asJSON(w)}, scan: a.scanHold}))
		n += len(a.holds)
	}
	return n
}
