package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// idempotency returns an Idempotency-Key with a body.
func idempotency(id, body byte) *Idempotency {
	return &Idempotency{ID: [32]byte{id}, Body: [32]byte{body}}
}

// retryable runs a request of five points with an Idempotency-Key.
func (f *fixture) retryable(id, body byte) Decision {
	f.Helper()
	return f.requestWith(f.secret, 5, idempotency(id, body))
}

func TestIdempotency(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(12)}, func(t *testing.T, f *fixture) {
		first := f.mustBegin()
		require.Equal(t, Good, must(first.Claim(5, idempotency(1, 1)))(t).Kind)
		require.Equal(t, IdempotencyConflict, f.retryable(1, 1).Kind, "the first is in progress")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 2).Kind, "another body")
		done := Charge{Points: 5, Found: book.Found{Valid: 5}, Response: []byte(storedResponse)}
		require.Equal(t, Good, must(first.Charge(done))(t).Kind)

		again := f.retryable(1, 1)
		require.Equal(t, Replayed, again.Kind, "after the charge of the first, before its end")
		first.End()
		require.Equal(t, storedResponse, string(again.Response))
		require.EqualValues(t, 5, again.Usage.Current, "a replay is not charged")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 2).Kind)

		second, _ := f.newKey("second", book.KeyTerms{})
		require.Equal(t, Replayed, f.requestWith(second, 5, idempotency(1, 1)).Kind, "keys of an account share its records")
		require.Equal(t, Good, f.otherAccount("other@example.com").retryable(1, 1).Kind, "accounts do not share records")

		require.Equal(t, Good, f.retryable(2, 1).Kind, "another key")
		require.Equal(t, Insufficient, f.retryable(3, 1).Kind)
		require.Equal(t, Replayed, f.retryable(1, 1).Kind, "a replay needs no points")

		f.clock.advance(retention)
		f.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, f.retryable(1, 2).Kind, "after a day the record has expired")
		require.Equal(t, Replayed, f.retryable(1, 2).Kind, "the new record")
		require.Equal(t, IdempotencyMismatch, f.retryable(1, 1).Kind)
		counted, real := f.stored()
		require.Equal(t, real, counted)
	})
}

func (f *fixture) records() (n int) {
	f.Helper()
	f.queryRow("SELECT count(*) FROM answers", &n)
	return n
}

// stored returns the bytes of the account's records: the counter in its row, and
// their real sum.
func (f *fixture) stored() (counted, real int64) {
	f.Helper()
	f.queryRow("SELECT stored, (SELECT coalesce(sum(length(answer)), 0) FROM answers WHERE account = 1) FROM accounts WHERE id = 1", &counted, &real)
	return counted, real
}

// A request that was not charged, or whose response is partial and not stored, is charged again.
func TestIdempotencyOfResponses(t *testing.T) {
	for name, c := range map[string]struct {
		charge Charge
		retry  Kind
		used   int64
	}{
		"not charged": {Charge{}, Good, 5},
		"partial":     {Charge{Points: 3, Found: book.Found{Valid: 3}}, Good, 8},
		"empty":       {Charge{Points: 5, Found: book.Found{Valid: 5}, Response: []byte{}}, Replayed, 5},
	} {
		t.Run(name, func(t *testing.T) {
			pgtest.EachDatabase(t, func(t *testing.T, url string) {
				f := newFixture(t, url, unlimitedTerms)
				r := f.mustBegin()
				must(r.Claim(5, idempotency(1, 1)))(t)
				if c.charge.Points > 0 {
					require.Equal(t, Good, must(r.Charge(c.charge))(t).Kind)
				}
				r.End()
				again := f.retryable(1, 1)
				require.Equal(t, c.retry, again.Kind)
				require.Empty(t, again.Response)
				require.EqualValues(t, c.used, f.used())
			})
		})
	}
}

// If two replicas work on the same request, the first to commit is charged, and the
// other gets its stored response.
func TestIdempotencyOnTwoReplicas(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		mine, theirs, odd := f.mustBegin(), other.mustBegin(), other.mustBegin()
		for r, body := range map[*Request]byte{mine: 1, theirs: 1} {
			require.Equal(t, Good, must(r.Claim(5, idempotency(1, body)))(t).Kind)
		}
		require.Equal(t, Good, must(mine.Charge(Charge{Points: 5, Response: []byte("the winner's")}))(t).Kind)
		d := must(theirs.Charge(Charge{Points: 5, Response: []byte("the other's")}))(t)
		require.Equal(t, Replayed, d.Kind)
		require.Equal(t, "the winner's", string(d.Response))
		require.Equal(t, IdempotencyMismatch, must(odd.Claim(5, idempotency(1, 2)))(t).Kind, "another body")
		for _, r := range []*Request{mine, theirs, odd} {
			r.End()
		}
		require.EqualValues(t, 5, f.used())
	})
}

// The records of an account take no more bytes than its plan allows.
func TestIdempotencyRecordsAreBounded(t *testing.T) {
	eachDatabase(t, book.Terms{Plan: "enterprise"}, func(t *testing.T, f *fixture) {
		size := int64(len(storedResponse))
		require.NoError(t, f.StorePlans(f.ctx, []book.Plan{{Name: "enterprise", Rate: book.Unlimited, Points: book.Unlimited, Stored: 3*size - 1}}))
		require.Equal(t, Good, f.retryable(1, 1).Kind)
		require.Equal(t, Good, f.retryable(2, 1).Kind)
		require.Equal(t, RecordsFull, f.retryable(3, 1).Kind, "the record does not fit")
		require.Equal(t, Replayed, f.retryable(1, 1).Kind)
		require.Equal(t, Good, f.request(1).Kind, "a request without a record is charged")
		counted, real := f.stored()
		require.Equal(t, real, counted)
		require.EqualValues(t, 11, f.used())
	})
}

// Expired records are deleted in slices until none is left, and their bytes are
// subtracted from the account's.
func TestIdempotencyRecordsArePurged(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		for n := range 5 {
			f.retryable(byte(n+1), 1)
		}
		f.clock.advance(retention)
		f.retryable(9, 1)
		f.Close() // so that it does not purge the records inserted next
		f.exec(f.insertExpired(3 * purgeRecords))
		f.exec("UPDATE accounts SET stored = (SELECT sum(size) FROM answers WHERE account = 1) WHERE id = 1")
		require.Greater(t, f.records(), 3*purgeRecords)

		again := f.replica() // purges at its start
		require.Eventually(t, func() bool { return again.records() == 1 }, hung, tick)
		counted, real := again.stored()
		require.Equal(t, real, counted)
		require.Equal(t, Replayed, again.retryable(9, 1).Kind, "a record that has not expired remains")
	})
}

// insertExpired returns a statement that inserts n expired records.
func (f *fixture) insertExpired(n int) string {
	return "INSERT INTO answers (account, id, body, answer, size, expires_ns) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
		fmt.Sprint(n) + ") SELECT 1, '" + strings.Repeat("0", 56) + "' || (10000000 + i), '" + strings.Repeat("0", 64) + "', answer, size, 1 FROM n, (SELECT answer, size FROM answers LIMIT 1) x"
}
