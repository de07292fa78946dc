package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMonthsAreUTC(t *testing.T) {
	east := time.FixedZone("east", 14*60*60)
	for _, c := range []struct{ at, begin time.Time }{
		{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2027, 1, 1, 13, 59, 0, 0, east), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
	} {
		require.Equal(t, c.begin, monthOf(c.at).begin())
		require.Equal(t, c.begin.AddDate(0, 1, 0), (monthOf(c.at) + 1).begin())
	}
}

func TestDay(t *testing.T) {
	day, err := ParseDay("2026-11-20")
	require.NoError(t, err)
	require.Equal(t, "2026-11-20", day.String())
	require.Equal(t, day, DayOf(day.Time()))
	require.Equal(t, day, DayOf(day.Time().Add(24*time.Hour-1)))
	require.Equal(t, day+1, DayOf(day.Time().Add(24*time.Hour)))
	require.Equal(t, Day(-1), DayOf(time.Unix(-1, 0)), "before 1970")
	_, err = ParseDay("20.11.2026")
	require.ErrorContains(t, err, "2026-11-20")
}

func midnight(day string) time.Time { return clockAt(day + "T00:00:00Z").wall }

// A ledger whose database's clock is wrong by more than a day is not ready.
func TestClockFarFromTheMachines(t *testing.T) {
	for ahead, wrong := range map[time.Duration]bool{0: false, 23 * time.Hour: false, -23 * time.Hour: false, 25 * time.Hour: true, -25 * time.Hour: true} {
		clock := func() time.Time { return time.Now().Add(ahead) }
		l := open(t, "sqlite:"+t.TempDir()+"/x.db", WithClock(clock), func(s *settings) { s.process = time.Now })
		for _, err := range []error{l.CheckClock(t.Context()), l.Ready(t.Context())} {
			if wrong {
				require.ErrorIs(t, err, ErrUnavailable)
				require.ErrorContains(t, err, "the database's clock says ")
			} else {
				require.NoError(t, err)
			}
		}
	}
}
