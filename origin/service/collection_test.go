package service

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// growthNow returns the growth that is in force.
func growthNow() int {
	now := debug.SetGCPercent(usualGrowth)
	debug.SetGCPercent(now)
	return now
}

// What a start allows ends with the first collection, and what serve sets remains.
func TestGrowthAfterStart(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set")
	}
	defer debug.SetGCPercent(growthNow())
	c := &collector{growth: usualGrowth}
	c.begin()
	require.Equal(t, startGrowth, growthNow())
	runtime.GC()
	require.Eventually(t, func() bool { return growthNow() == usualGrowth }, 2*time.Minute, time.Millisecond)
	c.end(serveGrowth)
	require.Equal(t, serveGrowth, growthNow())
	c.end(0)
	require.Equal(t, serveGrowth, growthNow())
}

// GOGC overrides what serve sets.
func TestGOGCOverrides(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	t.Setenv("GOGC", "70") // the runtime has read GOGC at its start
	c := &collector{growth: usualGrowth}
	c.begin()
	c.end(serveGrowth)
	require.Equal(t, 70, growthNow())
}
