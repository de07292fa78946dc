package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A start collects garbage when the ballast is made, and in this program of tests once
// before. Without the ballast it is four times.
func TestStartCollectsOnce(t *testing.T) {
	check := []string{"check", "--offline", "jane@example.org"}
	_, _, code := runProgram(t, check...) // compiles the module, unless that is cached
	require.Zero(t, code)
	cmd := program(check...)
	cmd.Env = append(cmd.Env, "GODEBUG=gctrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.LessOrEqual(t, strings.Count("\n"+string(out), "\ngc "), 2, string(out))
}

// The ballast must not delay collections after the start.
func TestBallastIsFreed(t *testing.T) {
	ballast.Store(new([startHeap]byte))
	start(t)
	require.Nil(t, ballast.Load())
}
