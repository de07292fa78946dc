package main

import (
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
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

// goals runs check on one address and returns the sizes of the heap, in MB, at which
// collections were due.
func goals(t *testing.T, environment ...string) (goals []int) {
	cmd := program("check", "--offline", "jane@example.org")
	cmd.Env = append(append(cmd.Env, "GODEBUG=gctrace=1"), environment...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, goal := range regexp.MustCompile(`, (\d+) MB goal`).FindAllStringSubmatch(string(out), -1) {
		megabytes, _ := strconv.Atoi(goal[1])
		goals = append(goals, megabytes)
	}
	return goals
}

// Once the module starts, the heap may grow to 32 MB, unless GOGC says otherwise. The
// command line, with heaps of at most 8 MB, is before.
func TestStartHardlyCollects(t *testing.T) {
	t.Parallel()
	for _, megabytes := range goals(t) {
		require.True(t, megabytes <= 8 || megabytes >= 30, megabytes)
	}
	require.Greater(t, len(goals(t, "GOGC=20")), 3)
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
	require.Eventually(t, func() bool { return growthNow() == usualGrowth }, hung, time.Millisecond)
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
