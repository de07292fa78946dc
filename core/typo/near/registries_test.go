package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegistriesSettled requires second-levels.txt to be what near writes.
func TestRegistriesSettled(t *testing.T) {
	c, err := openChecker(listsDir)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, writeRegistries(dir, c.endings))
	got, err := os.ReadFile(filepath.Join(dir, "second-levels.txt"))
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join(listsDir, "second-levels.txt"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run ./build.sh lists")
}

func TestIsRegistryEnding(t *testing.T) {
	for _, ending := range []string{"co.jp", "ne.jp", "com.br", "net.au", "co.uk"} {
		require.True(t, isRegistryEnding(ending), ending)
	}
	for _, ending := range []string{"com.uk", "xyz.jp", "uk.com"} { // unused, unused, a company's
		require.False(t, isRegistryEnding(ending), ending)
	}
}
