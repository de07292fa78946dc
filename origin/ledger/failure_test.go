package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Records that somebody changed by hand harm themselves alone, also when they
// are in one commit group with others: those are charged, and what fails alone
// gets an error.
func TestOneBadRecordHarmsItselfAlone(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		var secrets []string
		for n := range 16 {
			a, err := b.CreateAccount(b.ctx, fmt.Sprintf("a%d@example.com", n), plenty)
			require.NoError(t, err)
			secret, _, err := b.CreateKey(b.ctx, a.ID, "test", KeyTerms{})
			require.NoError(t, err)
			secrets = append(secrets, secret)
			b.send(secret, 1, nil)
		}
		// used at the end of its range: the next charge does not fit a BIGINT.
		b.sql("UPDATE accounts SET used = 9223372036854775807 WHERE email = 'a3@example.com'")
		var mu sync.Mutex
		results := map[int]error{}
		together(16, func(n int) {
			for range 10 {
				_, err := b.try(b.ctx, secrets[n], 1, nil)
				mu.Lock()
				results[n] = err
				mu.Unlock()
			}
		})
		for n, err := range results {
			if n == 3 {
				require.ErrorIs(t, err, ErrRecord)
			} else {
				require.NoError(t, err)
			}
		}
		require.NoError(t, b.Ready(b.ctx), "one account's damage is no outage")
		require.Equal(t, Good, b.ask(1).Verdict)
	})
}

// A key deleted by hand while its request works: nothing is charged, and
// everybody else goes on.
func TestKeyDeletedWhileItsRequestWorks(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		doomed, key, err := b.CreateKey(b.ctx, b.account, "doomed", KeyTerms{})
		require.NoError(t, err)
		under, d, err := b.Begin(b.ctx, doomed)
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		b.sql("DELETE FROM secrets WHERE key = $1", key.ID)
		b.sql("DELETE FROM keys WHERE id = $1", key.ID)
		require.Equal(t, UnknownKey, b.finish(under, 1).Verdict)
		time.Sleep(recordEvery + 2*postEvery) // the refusal cannot be recorded under a key that is gone
		require.NoError(t, b.Ready(b.ctx))
		require.Equal(t, Good, b.ask(1).Verdict)
		require.EqualValues(t, 1, b.used())
	})
}

// An operator lowers used while a charge is to be voided: it ends at 0.
func TestUsedChangedByHandWhileAVoidIsDue(t *testing.T) {
	b, p := doubtful(t)
	p.Shut(true)
	p.Cut(pgtest.AfterCommit, 1)
	_, err := b.try(b.ctx, b.secret, 20, nil)
	require.ErrorIs(t, err, ErrUndecided)
	b.sql("UPDATE accounts SET used = 7")
	p.Shut(false)
	b.awaitReady()
	b.awaitUsed(0)
	require.Equal(t, Good, b.ask(1).Verdict)
}

// A database that takes no writes: requests under way are refused and not
// charged, further ones do not even begin, and both go on as soon as it does.
func TestDatabaseThatCannotBeWritten(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.ask(10)
		under := b.arrive()
		_, err := under.Claim(5, nil)
		require.NoError(t, err)
		reopen := b.closeForWrites()
		_, err = under.Charge(Charge{Points: 5})
		require.ErrorIs(t, err, ErrUnavailable)
		under.End()
		_, _, err = b.Begin(b.ctx, b.secret)
		require.ErrorIs(t, err, ErrUnavailable)
		require.ErrorIs(t, b.Ready(b.ctx), ErrUnavailable)
		require.EqualValues(t, 10, b.used())

		reopen()
		b.awaitReady()
		require.EqualValues(t, 11, b.ask(1).Usage.Current)
		require.EqualValues(t, 11, b.history().Points)
	})
}

// Tokens taken before an outage are posted after it, and requests that were
// not charged are recorded.
func TestOutageLosesNoTokens(t *testing.T) {
	b := begin(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), Terms{Rate: limit(5), Points: limit(Unlimited)})
	b.ask(1)
	reopen := b.closeForWrites()
	for range 4 {
		b.ask(0)
	}
	b.awaitDown()
	reopen()
	b.awaitReady()
	other := b.elsewhere()
	require.Eventually(t, func() bool {
		var tat int64
		b.row("SELECT tat_ns FROM accounts WHERE id = 1", &tat)
		return tat >= b.clock.Now().Add(time.Second).UnixNano()
	}, 20*time.Second, postEvery)
	require.Equal(t, RateLimited, other.ask(0).Verdict)
	b.requireHistory(Tally{Points: 1, Requests: 5, Errors: 4})
}

// Close commits what waits, and says what it could not give back.
func TestCloseCommitsWhatWaits(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		var mu sync.Mutex
		answered := 0
		together(16, func(int) {
			for {
				_, err := b.try(b.ctx, b.secret, 1, nil)
				mu.Lock()
				if err != nil {
					require.ErrorIs(b, err, ErrClosed)
					mu.Unlock()
					return
				}
				if answered++; answered == 50 {
					go b.Close()
				}
				mu.Unlock()
			}
		})
		require.NoError(t, b.Close(), "closed again it does nothing")
		again := b.elsewhere()
		require.EqualValues(t, answered, again.used())
		require.EqualValues(t, answered, again.history().Points)
	})
}

// A slowStore holds the answer of a commit back, as a disk whose flush hangs,
// until held is closed.
type slowStore struct {
	store.Store
	held *atomic.Pointer[chan struct{}]
}

func (s slowStore) Transact(ctx context.Context, t store.Transaction) error {
	err := s.Store.Transact(ctx, t)
	if held := s.held.Load(); held != nil {
		<-*held
	}
	return err
}

// A flush that hangs for longer than a caller waits: the caller gets
// ErrUndecided within its second. Without a stored answer the charge is given
// back; with one it stays and is replayed.
func TestFlushThatHangs(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		var held atomic.Pointer[chan struct{}]
		b := begin(t, url, plenty, func(s *settings) {
			s.wrap = func(inner store.Store) store.Store { return slowStore{inner, &held} }
		})
		hang := func(points int64, key *Idempotency) {
			flush := make(chan struct{})
			held.Store(&flush)
			_, err := b.try(b.ctx, b.secret, points, key) // would wait for ever
			require.ErrorIs(t, err, ErrUndecided)
			b.awaitDown()
			_, _, err = b.Begin(b.ctx, b.secret)
			require.ErrorIs(t, err, ErrUnavailable, "meanwhile no work begins")
			held.Store(nil)
			close(flush)
			b.awaitReady()
		}
		hang(20, nil)
		b.awaitUsed(0)
		hang(5, once(1, 1))
		require.Equal(t, Replayed, b.repeat(1, 1).Verdict)
		b.awaitUsed(5)
		require.EqualValues(t, 1, b.Stats().Voided)
		b.requireHistory(Tally{Points: 5, Requests: 3, Errors: 2})
	})
}

// Callers who leave while another process holds the database are not charged.
func TestLeavingWhileTheDatabaseIsHeld(t *testing.T) {
	b := begin(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), plenty)
	b.ask(0)
	reopen := b.closeForWrites()
	together(20, func(int) {
		ctx, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
		defer cancel()
		_, err := b.try(ctx, b.secret, 1, nil)
		require.ErrorIs(b, err, context.DeadlineExceeded)
	})
	reopen()
	b.awaitReady()
	b.requireHistory(Tally{Requests: 21, Errors: 21})
}

// A brokenStore takes no transaction once it is broken.
type brokenStore struct {
	store.Store
	broken *atomic.Bool
}

func (s brokenStore) Transact(ctx context.Context, t store.Transaction) error {
	if s.broken.Load() {
		return errors.New("broken")
	}
	return s.Store.Transact(ctx, t)
}

// Close says what it could not give back.
func TestCloseSaysWhatIsUndecided(t *testing.T) {
	var held atomic.Pointer[chan struct{}]
	var broken atomic.Bool
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	l, err := Open(t.Context(), url, func(s *settings) {
		s.wrap = func(inner store.Store) store.Store { return slowStore{brokenStore{inner, &broken}, &held} }
	})
	require.NoError(t, err)
	b := &bench{T: t, Ledger: l, ctx: t.Context(), url: url}
	a, err := l.CreateAccount(b.ctx, "owner@example.com", plenty)
	require.NoError(t, err)
	b.secret, _, err = l.CreateKey(b.ctx, a.ID, "test", KeyTerms{})
	require.NoError(t, err)
	flush := make(chan struct{})
	held.Store(&flush)
	_, err = b.try(b.ctx, b.secret, 1, nil)
	require.ErrorIs(t, err, ErrUndecided)
	broken.Store(true)
	close(flush)
	require.ErrorContains(t, l.Close(), "1 charges could not be given back")
	require.NoError(t, l.Close(), "closed again it does nothing")
	_, err = b.try(b.ctx, b.secret, 1, nil)
	require.Error(t, err)
}
