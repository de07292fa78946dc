package ledger

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockJump(t *testing.T) {
	fake := clockAt(startTime)
	c := newClock(fake.Now(), fake.instant, slog.New(slog.DiscardHandler))
	observe := func() time.Time { return c.observe(fake.Now()) }
	fake.advance(time.Hour)
	require.Equal(t, fake.Now(), observe())
	fake.setBack(23 * time.Hour)
	require.Equal(t, fake.Now(), observe(), "a jump of less than a day is trusted")

	right := fake.Now()
	fake.set(right.AddDate(10, 0, 0))
	require.Equal(t, right, observe())
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(confirmAfter-1), observe(), "the clock continues from the old time")
	fake.set(right.AddDate(20, 0, 0))
	observe()
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(2*confirmAfter-2), observe(), "another jump restarts the hour")
	fake.advance(1)
	require.Equal(t, fake.Now(), observe(), "a time that has lasted for an hour is trusted")
	require.Equal(t, fake.Now(), c.now())
}
