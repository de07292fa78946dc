package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// GOGC overrides what serve sets.
func TestLimitGrowth(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "70")
	limitGrowth()
	require.Equal(t, 100, debug.SetGCPercent(100), "the runtime has read GOGC at its start")
	t.Setenv("GOGC", "")
	limitGrowth()
	require.Equal(t, growth, debug.SetGCPercent(100))
}
