package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// guessing returns a ledger with a key that has a budget, after a charge whose rows were
// guessed.
func guessing(t *testing.T, url string) (f *fixture, work *storetest.Counter) {
	work = new(storetest.Counter)
	f = newFixture(t, url, Terms{Rate: limit(1000), Points: limit(1000)}, WithStore(work.Wrap))
	require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Budget: limit(100)}}))
	require.Equal(t, Good, f.request(1).Kind)
	work.Take()
	require.Equal(t, Good, f.request(1).Kind)
	requireGuess(t, work, true)
	return f, work
}

// requireGuess requires that the last groups have guessed, all right or the first wrong.
func requireGuess(t *testing.T, work *storetest.Counter, right bool) {
	t.Helper()
	done := work.Take().Statements
	require.NotZero(t, done["expect_rows"])
	require.Equal(t, right, done["read_rows"] == 0)
}

// Whatever another session has changed since the rows were read is what decides.
func TestPostgresGuessesWrong(t *testing.T) {
	for change, want := range map[string]struct {
		kind Kind
		used int64 // of the account
	}{
		"UPDATE accounts SET used = used + 10":                      {Good, 13},
		"UPDATE accounts SET stored = 7":                            {Good, 3},
		"UPDATE accounts SET points = 2":                            {Insufficient, 2},
		"UPDATE accounts SET rate = 7":                              {Good, 3},
		"UPDATE accounts SET overage = true":                        {Good, 3},
		"UPDATE accounts SET month = month + 1, used = 0":           {Good, 1},
		"UPDATE accounts SET suspended_ns = 1":                      {UnknownKey, 2},
		"UPDATE accounts SET policies = 3":                          {Good, 3},
		"UPDATE plans SET stored = 1":                               {Good, 3},
		"UPDATE keys SET used = 100":                                {Insufficient, 2},
		"UPDATE keys SET budget = 2":                                {Insufficient, 2},
		"UPDATE keys SET rate = 5":                                  {Good, 3},
		"UPDATE keys SET revoked_ns = 1":                            {UnknownKey, 2},
		"UPDATE keys SET expires_ns = 1":                            {UnknownKey, 2},
		"UPDATE keys SET origins = 'https://a.example'":             {WrongOrigin, 2},
		"UPDATE keys SET policy = 'p'":                              {Good, 3},
		"UPDATE secrets SET expires_ns = 1":                         {UnknownKey, 2},
		"DELETE FROM secrets":                                       {UnknownKey, 2},
		"UPDATE keys SET account = (SELECT max(id) FROM accounts);": {UnknownKey, 2},
	} {
		t.Run(strings.ReplaceAll(change, " ", "_"), func(t *testing.T) {
			f, work := guessing(t, pgtest.NeedDatabase(t))
			f.otherAccount("other@example.com")
			require.Equal(t, Good, f.request(0).Kind)
			work.Take()
			r := f.mustBegin()
			d, err := r.Claim(1, nil)
			require.NoError(t, err)
			require.Equal(t, Good, d.Kind)
			f.exec(change)
			d, err = r.Charge(Charge{Points: 1})
			require.NoError(t, err)
			r.End()
			require.Equal(t, want.kind, d.Kind)
			requireGuess(t, work, false)
			var used int64
			f.queryRow("SELECT used FROM accounts ORDER BY id LIMIT 1", &used)
			require.Equal(t, want.used, used)
		})
	}
}

// A batch with an Idempotency-Key that is new is guessed too. If another replica has the
// record, it is what decides, whether or not this batch would store one.
func TestPostgresGuessesNoRecord(t *testing.T) {
	for _, response := range [][]byte{[]byte(storedResponse), nil} {
		f, work := guessing(t, pgtest.NeedDatabase(t))
		require.Equal(t, Good, f.retryable(1, 1).Kind)
		requireGuess(t, work, true)
		require.Equal(t, Replayed, f.retryable(1, 1).Kind)

		r := f.mustBegin()
		d, err := r.Claim(5, idempotency(2, 2))
		require.NoError(t, err)
		require.Equal(t, Good, d.Kind)
		f.exec(`INSERT INTO answers (account, id, body, answer, size, expires_ns)
			SELECT account, replace(id, '01', '02'), replace(body, '01', '02'), answer, size, expires_ns FROM answers`)
		work.Take()
		d, err = r.Charge(Charge{Points: 5, Response: response})
		require.NoError(t, err)
		r.End()
		require.Equal(t, Replayed, d.Kind)
		requireGuess(t, work, false)
		require.EqualValues(t, 7, f.used())
	}
}

// After a wrong guess a group guesses again when a minute has passed, so that replicas that
// charge the same account do not lose time, nor fill the server's log.
func TestPostgresGuessesSeldomWhenWrong(t *testing.T) {
	f, work := guessing(t, pgtest.NeedDatabase(t))
	other := f.replica()
	f.clock.advance(maxRefuse + 1)
	for range 30 {
		require.Equal(t, Good, other.request(1).Kind)
		require.Equal(t, Good, f.request(1).Kind)
		f.clock.advance(maxAccept)
	}
	require.Equal(t, 1, work.Take().Statements["expect_rows"])
	f.clock.advance(time.Minute)
	require.Equal(t, Good, f.request(1).Kind)
	requireGuess(t, work, true)
}
