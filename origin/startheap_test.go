package main

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// From the ballast on, the heap grows to more than its size before a collection. The
// packages' own initialization, with heaps of at most 8 MB, is before.
func TestStartCollectsOnce(t *testing.T) {
	cmd := program("check", "--offline", "jane@example.org")
	cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	var after []int // megabytes
	for _, goal := range regexp.MustCompile(`, (\d+) MB goal`).FindAllStringSubmatch(string(out), -1) {
		if megabytes, _ := strconv.Atoi(goal[1]); megabytes > 8 {
			after = append(after, megabytes)
		}
	}
	require.NotEmpty(t, after, string(out))
	require.GreaterOrEqual(t, slices.Min(after), startHeap>>20, string(out))
}

// The ballast must not delay collections after the start.
func TestBallastIsFreed(t *testing.T) {
	ballast.Store(new([startHeap]byte))
	start(t)
	require.Nil(t, ballast.Load())
}
