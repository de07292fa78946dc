package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// once is an Idempotency-Key with a body.
func once(id, body byte) *Idempotency { return &Idempotency{ID: [32]byte{id}, Body: [32]byte{body}} }

// repeat sends a request of five points with an Idempotency-Key.
func (b *bench) repeat(id, body byte) Decision {
	b.Helper()
	return b.send(b.secret, 5, once(id, body))
}

func TestIdempotencyTellsAStory(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(12)})
		first := b.arrive()
		d, err := first.Claim(5, once(1, 1))
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, IdempotencyConflict, b.repeat(1, 1).Verdict, "the first is under way")
		require.Equal(t, IdempotencyMismatch, b.repeat(1, 2).Verdict, "another body never fits")
		d, err = first.Charge(Charge{Points: 5, Found: Found{Valid: 5}, Answer: []byte(answerOf)})
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)

		again := b.repeat(1, 1)
		require.Equal(t, Replayed, again.Verdict, "as soon as it is charged, and before it has ended")
		first.End()
		require.Equal(t, answerOf, string(again.Answer))
		require.EqualValues(t, 5, again.Usage.Current, "at no cost")
		require.Equal(t, IdempotencyMismatch, b.repeat(1, 2).Verdict)

		require.Equal(t, Good, b.repeat(2, 1).Verdict, "another key is another request")
		require.Equal(t, Insufficient, b.repeat(3, 1).Verdict)
		require.Equal(t, Replayed, b.repeat(1, 1).Verdict, "an answer is replayed without points left")

		b.clock.advance(Retention)
		b.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, b.repeat(1, 2).Verdict, "after a day the key is new")
		require.Equal(t, Replayed, b.repeat(1, 2).Verdict, "it has replaced the old one")
		require.Equal(t, IdempotencyMismatch, b.repeat(1, 1).Verdict)
		counted, real := b.stored()
		require.Equal(t, real, counted)
	})
}

func (b *bench) records() (n int) {
	b.Helper()
	b.row("SELECT count(*) FROM answers", &n)
	return n
}

// stored is the account's bytes of records: as counted, and as they are.
func (b *bench) stored() (counted, real int64) {
	b.Helper()
	b.row("SELECT stored, (SELECT coalesce(sum(length(answer)), 0) FROM answers WHERE account = 1) FROM accounts WHERE id = 1", &counted, &real)
	return counted, real
}

// A partial answer is charged and not recorded: the retry is a new request.
func TestIdempotencyWithoutAnAnswerToStore(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		r := b.arrive()
		_, err := r.Claim(5, once(1, 1))
		require.NoError(t, err)
		d, err := r.Charge(Charge{Points: 3, Found: Found{Valid: 3}})
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		r.End()
		require.Equal(t, Good, b.repeat(1, 1).Verdict)
		require.EqualValues(t, 8, b.used())
	})
}

func TestIdempotencyOfTwoAccounts(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.repeat(1, 1)
		second, _, err := b.CreateKey(b.ctx, b.account, "second", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Replayed, b.send(second, 5, once(1, 1)).Verdict, "the account's keys share it")

		other, err := b.CreateAccount(b.ctx, "other@example.com", plenty)
		require.NoError(t, err)
		secret, _, err := b.CreateKey(b.ctx, other.ID, "test", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Good, b.send(secret, 5, once(1, 1)).Verdict, "another account does not see it")
	})
}

// What was not charged is not recorded, and may be tried again.
func TestIdempotencyAfterAFailure(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		r := b.arrive()
		_, err := r.Claim(5, once(1, 1))
		require.NoError(t, err)
		r.End()
		require.Equal(t, Good, b.repeat(1, 1).Verdict)
		require.EqualValues(t, 5, b.used())
	})
}

// Two replicas work on the same request: the one that commits first wins, and
// the other answers with the winner's bytes.
func TestIdempotencyOnTwoReplicas(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		other := b.elsewhere()
		mine, theirs, odd := b.arrive(), other.arrive(), other.arrive()
		for r, body := range map[*Request]byte{mine: 1, theirs: 1} {
			d, err := r.Claim(5, once(1, body))
			require.NoError(t, err)
			require.Equal(t, Good, d.Verdict)
		}
		d, err := mine.Charge(Charge{Points: 5, Answer: []byte("the winner's")})
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		d, err = theirs.Charge(Charge{Points: 5, Answer: []byte("the other's")})
		require.NoError(t, err)
		require.Equal(t, Replayed, d.Verdict)
		require.Equal(t, "the winner's", string(d.Answer))
		d, err = odd.Claim(5, once(1, 2))
		require.NoError(t, err)
		require.Equal(t, IdempotencyMismatch, d.Verdict, "with another body nobody wins")
		for _, r := range []*Request{mine, theirs, odd} {
			r.End()
		}
		require.EqualValues(t, 5, b.used())
	})
}

// The records of an account take no more bytes than its plan allows.
func TestIdempotencyRecordsAreBounded(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "enterprise"})
		size := int64(len(answerOf))
		require.NoError(t, b.StorePlans(b.ctx, []Plan{{Name: "enterprise", Rate: Unlimited, Points: Unlimited, Stored: 3*size - 1}}))
		require.Equal(t, Good, b.repeat(1, 1).Verdict)
		require.Equal(t, Good, b.repeat(2, 1).Verdict)
		require.Equal(t, RecordsFull, b.repeat(3, 1).Verdict, "it does not fit any more")
		require.Equal(t, Replayed, b.repeat(1, 1).Verdict)
		require.Equal(t, Good, b.ask(1).Verdict, "what stores nothing goes on")
		counted, real := b.stored()
		require.Equal(t, real, counted)
		require.EqualValues(t, 11, b.used())
	})
}

// Expired records are deleted in slices until none is left, and their bytes
// are given back.
func TestIdempotencyRecordsArePurged(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		for n := range 5 {
			b.repeat(byte(n+1), 1)
		}
		b.clock.advance(Retention)
		b.repeat(9, 1)
		b.Close() // or it might purge already what is made here
		b.sql(b.many(3 * purgeRecords))
		b.sql("UPDATE accounts SET stored = (SELECT sum(size) FROM answers WHERE account = 1) WHERE id = 1")
		require.Greater(t, b.records(), 3*purgeRecords)

		again := b.elsewhere() // purges as soon as it starts
		require.Eventually(t, func() bool { return again.records() == 1 }, 20*time.Second, postEvery)
		counted, real := again.stored()
		require.Equal(t, real, counted)
		require.Equal(t, Replayed, again.repeat(9, 1).Verdict, "what has not expired stays")
	})
}

// many is a statement that makes n records which have expired.
func (b *bench) many(n int) string {
	return "INSERT INTO answers (account, id, body, answer, size, expires_ns) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
		fmt.Sprint(n) + ") SELECT 1, '" + strings.Repeat("0", 56) + "' || (10000000 + i), '" + strings.Repeat("0", 64) + "', answer, size, 1 FROM n, (SELECT answer, size FROM answers LIMIT 1) x"
}

func TestIdempotencyOfAnEmptyAnswer(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		r := b.arrive()
		_, err := r.Claim(5, once(1, 1))
		require.NoError(t, err)
		_, err = r.Charge(Charge{Points: 5, Answer: []byte{}})
		require.NoError(t, err)
		r.End()
		again := b.repeat(1, 1)
		require.Equal(t, Replayed, again.Verdict)
		require.Empty(t, again.Answer)
	})
}

// A record that was replaced since it was listed as expired stays.
func TestPurgeLooksAgain(t *testing.T) {
	b := newBook()
	b.now = time.Unix(0, 100)
	b.accounts[1] = &accountState{id: 1, stored: 7}
	expired, fresh := recordID{1}, recordID{2}
	b.records[recordKey{1, expired}] = &record{size: 3, expires: 100}
	b.records[recordKey{1, fresh}] = &record{size: 4, expires: 101}
	(&purging{account: 1, ids: []recordID{expired, fresh, {3}}}).decide(b)
	require.Nil(t, b.records[recordKey{1, expired}])
	require.NotNil(t, b.records[recordKey{1, fresh}])
	require.EqualValues(t, 4, b.accounts[1].stored)
	require.Len(t, b.writes, 1)
}
