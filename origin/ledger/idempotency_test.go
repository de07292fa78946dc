package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// once is an Idempotency-Key with a body.
func idempotency(id, body byte) *Idempotency {
	return &Idempotency{ID: [32]byte{id}, Body: [32]byte{body}}
}

// repeat sends a request of five points with an Idempotency-Key.
func (f *fixture) retryable(id, body byte) Decision {
	f.Helper()
	return f.requestWith(f.secret, 5, idempotency(id, body))
}

func TestIdempotency(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(12)})
		first := f.mustBegin()
		d, err := first.Claim(5, idempotency(1, 1))
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, IdempotencyConflict, f.retryable(1, 1).Verdict, "the first is under way")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 2).Verdict, "another body never fits")
		d, err = first.Charge(Charge{Points: 5, Found: Found{Valid: 5}, Answer: []byte(storedAnswer)})
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)

		again := f.retryable(1, 1)
		require.Equal(t, Replayed, again.Verdict, "as soon as it is charged, and before it has ended")
		first.End()
		require.Equal(t, storedAnswer, string(again.Answer))
		require.EqualValues(t, 5, again.Usage.Current, "at no cost")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 2).Verdict)

		require.Equal(t, Good, f.retryable(2, 1).Verdict, "another key is another request")
		require.Equal(t, Insufficient, f.retryable(3, 1).Verdict)
		require.Equal(t, Replayed, f.retryable(1, 1).Verdict, "an answer is replayed without points left")

		f.clock.advance(Retention)
		f.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, f.retryable(1, 2).Verdict, "after a day the key is new")
		require.Equal(t, Replayed, f.retryable(1, 2).Verdict, "it has replaced the old one")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 1).Verdict)
		counted, real := f.stored()
		require.Equal(t, real, counted)
	})
}

func (f *fixture) records() (n int) {
	f.Helper()
	f.queryRow("SELECT count(*) FROM answers", &n)
	return n
}

// stored is the account's bytes of records: as counted, and as they are.
func (f *fixture) stored() (counted, real int64) {
	f.Helper()
	f.queryRow("SELECT stored, (SELECT coalesce(sum(length(answer)), 0) FROM answers WHERE account = 1) FROM accounts WHERE id = 1", &counted, &real)
	return counted, real
}

// A partial answer is charged and not recorded: the retry is a new request.
func TestIdempotencyPartialAnswer(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		r := f.mustBegin()
		_, err := r.Claim(5, idempotency(1, 1))
		require.NoError(t, err)
		d, err := r.Charge(Charge{Points: 3, Found: Found{Valid: 3}})
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		r.End()
		require.Equal(t, Good, f.retryable(1, 1).Verdict)
		require.EqualValues(t, 8, f.used())
	})
}

func TestIdempotencyPerAccount(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		f.retryable(1, 1)
		second, _, err := f.CreateKey(f.ctx, f.account, "second", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Replayed, f.requestWith(second, 5, idempotency(1, 1)).Verdict, "the account's keys share it")

		other, err := f.CreateAccount(f.ctx, "other@example.com", unlimitedTerms)
		require.NoError(t, err)
		secret, _, err := f.CreateKey(f.ctx, other.ID, "test", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Good, f.requestWith(secret, 5, idempotency(1, 1)).Verdict, "another account does not see it")
	})
}

// What was not charged is not recorded, and may be tried again.
func TestIdempotencyAfterFailure(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		r := f.mustBegin()
		_, err := r.Claim(5, idempotency(1, 1))
		require.NoError(t, err)
		r.End()
		require.Equal(t, Good, f.retryable(1, 1).Verdict)
		require.EqualValues(t, 5, f.used())
	})
}

// Two replicas work on the same request: the one that commits first wins, and
// the other answers with the winner's bytes.
func TestIdempotencyOnTwoReplicas(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		other := f.replica()
		mine, theirs, odd := f.mustBegin(), other.mustBegin(), other.mustBegin()
		for r, body := range map[*Request]byte{mine: 1, theirs: 1} {
			d, err := r.Claim(5, idempotency(1, body))
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
		d, err = odd.Claim(5, idempotency(1, 2))
		require.NoError(t, err)
		require.Equal(t, IdempotencyMismatch, d.Verdict, "with another body nobody wins")
		for _, r := range []*Request{mine, theirs, odd} {
			r.End()
		}
		require.EqualValues(t, 5, f.used())
	})
}

// The records of an account take no more bytes than its plan allows.
func TestIdempotencyRecordsAreBounded(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Plan: "enterprise"})
		size := int64(len(storedAnswer))
		require.NoError(t, f.StorePlans(f.ctx, []Plan{{Name: "enterprise", Rate: Unlimited, Points: Unlimited, Stored: 3*size - 1}}))
		require.Equal(t, Good, f.retryable(1, 1).Verdict)
		require.Equal(t, Good, f.retryable(2, 1).Verdict)
		require.Equal(t, RecordsFull, f.retryable(3, 1).Verdict, "it does not fit any more")
		require.Equal(t, Replayed, f.retryable(1, 1).Verdict)
		require.Equal(t, Good, f.request(1).Verdict, "what stores nothing goes on")
		counted, real := f.stored()
		require.Equal(t, real, counted)
		require.EqualValues(t, 11, f.used())
	})
}

// Expired records are deleted in slices until none is left, and their bytes
// are given back.
func TestIdempotencyRecordsArePurged(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		for n := range 5 {
			f.retryable(byte(n+1), 1)
		}
		f.clock.advance(Retention)
		f.retryable(9, 1)
		f.Close() // or it might purge already what is made here
		f.exec(f.insertExpired(3 * purgeRecords))
		f.exec("UPDATE accounts SET stored = (SELECT sum(size) FROM answers WHERE account = 1) WHERE id = 1")
		require.Greater(t, f.records(), 3*purgeRecords)

		again := f.replica() // purges as soon as it starts
		require.Eventually(t, func() bool { return again.records() == 1 }, 20*time.Second, tickEvery)
		counted, real := again.stored()
		require.Equal(t, real, counted)
		require.Equal(t, Replayed, again.retryable(9, 1).Verdict, "what has not expired stays")
	})
}

// many is a statement that makes n records which have expired.
func (f *fixture) insertExpired(n int) string {
	return "INSERT INTO answers (account, id, body, answer, size, expires_ns) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
		fmt.Sprint(n) + ") SELECT 1, '" + strings.Repeat("0", 56) + "' || (10000000 + i), '" + strings.Repeat("0", 64) + "', answer, size, 1 FROM n, (SELECT answer, size FROM answers LIMIT 1) x"
}

func TestIdempotencyEmptyAnswer(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		r := f.mustBegin()
		_, err := r.Claim(5, idempotency(1, 1))
		require.NoError(t, err)
		_, err = r.Charge(Charge{Points: 5, Answer: []byte{}})
		require.NoError(t, err)
		r.End()
		again := f.retryable(1, 1)
		require.Equal(t, Replayed, again.Verdict)
		require.Empty(t, again.Answer)
	})
}

// A record that was replaced since it was listed as expired stays.
func TestPurgeKeepsReplacedRecords(t *testing.T) {
	ws := newWorkingSet()
	ws.now = time.Unix(0, 100)
	ws.accounts[1] = &accountState{id: 1, stored: 7}
	expired, fresh := recordID{1}, recordID{2}
	ws.records[recordKey{1, expired}] = &record{size: 3, expires: 100}
	ws.records[recordKey{1, fresh}] = &record{size: 4, expires: 101}
	(&purgeOp{account: 1, ids: []recordID{expired, fresh, {3}}}).decide(ws)
	require.Nil(t, ws.records[recordKey{1, expired}])
	require.NotNil(t, ws.records[recordKey{1, fresh}])
	require.EqualValues(t, 4, ws.accounts[1].stored)
	require.Len(t, ws.writes, 1)
}
