package words

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 point":      Count(1, "point"),
		"0 points":     Count(0, "point"),
		"2,000 points": Count(int64(2000), "point"),
		"3 addresses":  Count(3, "address"),
		"2 entries":    Count(2, "entry"),
		"2 days":       Count(2, "day"),
		"1 day":        Days(48*time.Hour - 1),
	} {
		require.Equal(t, want, got)
	}
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		wait          time.Duration
		words, second string
	}{
		{-time.Second, "1 second", "1 second"},
		{0, "1 second", "1 second"},
		{time.Nanosecond, "1 second", "1 second"},
		{time.Second, "1 second", "1 second"},
		{time.Second + 1, "2 seconds", "2 seconds"},
		{2 * time.Minute, "120 seconds", "120 seconds"},
		{2*time.Minute + 1, "3 minutes", "121 seconds"},
		{2 * time.Hour, "120 minutes", "7200 seconds"},
		{25*time.Hour - 1, "25 hours", "90000 seconds"},
	} {
		require.Equal(t, c.words, Wait(c.wait))
		require.Equal(t, c.second, Seconds(c.wait))
	}
}

func TestTimesAreInUTC(t *testing.T) {
	at := time.Date(2026, time.December, 1, 1, 30, 59, 0, time.FixedZone("", 2*60*60))
	require.Equal(t, "30 Nov 2026", Date(at))
	require.Equal(t, "30 Nov 2026, 23:30 UTC", Time(at))
}
