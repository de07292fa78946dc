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
	require.Equal(t, fake.Now(), observe(), "less than a day is taken as it is")

	right := fake.Now()
	fake.set(right.AddDate(10, 0, 0))
	require.Equal(t, right, observe())
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(confirmAfter-1), observe(), "the old time goes on")
	fake.set(right.AddDate(20, 0, 0))
	observe()
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(2*confirmAfter-2), observe(), "another jump begins anew")
	fake.advance(1)
	require.Equal(t, fake.Now(), observe(), "what lasts is true")
	require.Equal(t, fake.Now(), c.now())
}
