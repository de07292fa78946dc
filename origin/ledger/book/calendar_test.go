package book

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
		require.Equal(t, c.begin, MonthOf(c.at).Begin())
		require.Equal(t, c.begin.AddDate(0, 1, 0), (MonthOf(c.at) + 1).Begin())
	}
}

func TestDay(t *testing.T) {
	day, err := ParseDay("2026-11-20")
	require.NoError(t, err)
	require.Equal(t, "2026-11-20", day.String())
	require.Equal(t, day, DayOf(day.Time()))
	require.Equal(t, day, DayOf(day.Time().Add(24*time.Hour-1)))
	require.Equal(t, day+1, DayOf(day.Time().Add(24*time.Hour)))
	_, err = ParseDay("20.11.2026")
	require.ErrorContains(t, err, "2026-11-20")
}
