package moduletest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A tool that is there and fails is skipped by name, with what it prints.
func TestTool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for name, script := range map[string]string{
		"silent": "exit 1", "cargo": "echo no default toolchain >&2; echo more; exit 1", "works": "exit 0", "java": `[ "$1" = -version ]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	for name, want := range map[string]string{
		"silent":  "skipped: silent does not work: exit status 1",
		"cargo":   "skipped: cargo does not work: no default toolchain",
		"missing": "skipped: missing is not installed",
		"works":   "",
		"java":    "",
	} {
		s := &skips{TB: t}
		func() {
			defer func() { _ = recover() }()
			require.Equal(t, filepath.Join(dir, name), moduletest.Tool(s, name))
		}()
		require.Equal(t, want, s.reason, name)
	}
	elsewhere := filepath.Join(dir, "works")
	require.Equal(t, elsewhere, moduletest.Tool(t, "missing", elsewhere))
}

// A skips keeps why a test was skipped.
type skips struct {
	testing.TB
	reason string
}

func (s *skips) Skipf(format string, args ...any) {
	s.reason = fmt.Sprintf(format, args...)
	panic("skipped")
}
