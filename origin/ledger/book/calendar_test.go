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
	day := must(ParseDay("2026-11-20"))(t)
	require.Equal(t, "2026-11-20", day.String())
	require.Equal(t, day, DayOf(day.Time()))
	require.Equal(t, day, DayOf(day.Time().Add(24*time.Hour-1)))
	require.Equal(t, day+1, DayOf(day.Time().Add(24*time.Hour)))
	_, err := ParseDay("20.11.2026")
	require.ErrorContains(t, err, "2026-11-20")
}

func TestParseExpiry(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": {}, "never": {}, "90d": now.AddDate(0, 0, 90),
		"2027-01-31": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)} {
		got, err := ParseExpiry(text, now)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"0d", "-1d", "090d", "36501d", "d", "31.01.2027", "0001-01-01"} {
		_, err := ParseExpiry(text, now)
		require.ErrorContains(t, err, "the expiry", text)
	}
}
