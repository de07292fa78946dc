package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	for word := range works {
		require.NoError(t, run([]string{word, "1ms", "jane@example.org"}))
	}
	for _, args := range [][]string{nil, {"facts"}, {"nothing", "1ms", "jane@example.org"}, {"facts", "soon", "jane@example.org"}} {
		require.Error(t, run(args), args)
	}
}

// The average is of the calls that were made.
func TestNanoseconds(t *testing.T) {
	calls := 0
	begun := time.Now()
	average := nanoseconds(5*time.Millisecond, func() { calls++; time.Sleep(time.Millisecond) })
	require.GreaterOrEqual(t, average, float64(time.Millisecond))
	require.LessOrEqual(t, average, float64(time.Since(begun))/float64(calls-1))
}
