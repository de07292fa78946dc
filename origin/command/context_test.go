package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
)

// The build of the container gets every file of the repository and no secret. The
// matcher is Docker's own.
func TestContainerBuildContext(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../.dockerignore")
	require.NoError(t, err)
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	matcher, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	ignored := func(path string) bool {
		is, err := matcher.MatchesOrParentMatches(path)
		require.NoError(t, err)
		return is
	}
	for _, path := range []string{".git/config", "data/addrspec.db", "origin/deploy/pgpass", "origin/deploy/database-password", "lists.key", "addrspec.env",
		"dist/addrspec", "wasm/module/addrspec.wasm", "edge/node_modules/esbuild/package.json", "wasm/bindings/rust/target/debug/x"} {
		require.True(t, ignored(filepath.FromSlash(path)), path)
	}
	tracked, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skip("skipped: this is not a checkout of git")
	}
	files := strings.Fields(string(tracked))
	require.Greater(t, len(files), 500)
	for _, path := range files {
		require.False(t, ignored(filepath.FromSlash(path)), path)
	}
}
