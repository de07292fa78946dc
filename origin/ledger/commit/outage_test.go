package commit

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// hangingStore is a database that does not respond to queries.
type hangingStore struct{ store.Store }

func (hangingStore) Query(ctx context.Context, _ store.Statement) error {
	<-ctx.Done()
	return ctx.Err()
}

// A query for expired records that hangs does not keep the writer, so that it can be closed.
func TestPurgeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := state.NewViews(state.NewClock(time.Now(), time.Now))
		w := &Writer{store: hangingStore{}, health: newHealth(v, slog.New(slog.DiscardHandler), &DefaultTiming)}
		w.purge(time.Now())
		require.True(t, w.nextPurge.After(time.Now()))
	})
}

// A request waits for its second, and not at all once the outage is long.
func TestWaitForTheDatabaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, v := book.Digest{1}, state.NewViews(state.NewClock(time.Now(), time.Now))
		v.EndQuery(v.BeginQuery(), map[book.Digest]*state.ViewRow{at: {}})
		w := newHealth(v, slog.New(slog.DiscardHandler), &DefaultTiming)
		waited := func() (time.Duration, error) { return w.AwaitCommits(t.Context(), at) }
		time.Sleep(time.Millisecond)

		took, err := waited()
		require.NoError(t, err)
		require.Zero(t, took)
		end := w.begin()
		time.Sleep(waitLimit + 1)
		time.AfterFunc(waitLimit/2, end)
		took, err = waited()
		require.NoError(t, err)
		require.Equal(t, waitLimit/2, took)

		end = w.begin()
		time.Sleep(waitLimit + 1)
		time.AfterFunc(waitLimit/2, func() { end(); w.begin() }) // the next one is no outage yet
		_, err = waited()
		require.NoError(t, err)

		w.markDown(errors.New("the connection was lost"))
		start := time.Now()
		time.AfterFunc(waitLimit/2, w.begin())
		_, err = waited()
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.ErrorContains(t, err, "the connection was lost")
		require.Equal(t, waitLimit*3/4, time.Since(start), "the charge may wait as well")
		time.Sleep(DefaultTiming.Recovery)
		w.markDown(errors.New("the connection was lost again"))
		start = time.Now()
		_, err = waited()
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.Zero(t, time.Since(start), "the outage is long")
		require.Zero(t, v.Count().Waiting)
	})
}
