package bindings_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// packaged runs the package.sh of a language and returns the files that it made. It
// skips the test if a tool is missing.
func packaged(t *testing.T, language string) []string {
	t.Helper()
	module := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(module, moduletest.Bytes(t), 0o600))
	cmd := exec.Command("sh", filepath.Join(language, "package.sh"), t.TempDir())
	cmd.Env = append(os.Environ(), "ADDRSPEC_MODULE="+module, "SOURCE_DATE_EPOCH=1000000000")
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3 {
		t.Skip(strings.TrimSpace(string(output)))
	}
	if err != nil && unreachable.Match(output) {
		t.Skipf("the registry is unreachable: %s", output)
	}
	require.NoError(t, err, "%s", output)
	return strings.Fields(string(output))
}

// requireReproducible requires that package.sh gives the same bytes again.
func requireReproducible(t *testing.T, language string) {
	t.Helper()
	first, second := packaged(t, language), packaged(t, language)
	require.Len(t, second, len(first))
	for n := range first {
		require.Equal(t, digest(t, first[n]), digest(t, second[n]), first[n])
	}
}

func digest(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return digestOf(content)
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// requireSameAsCore requires the results of core from the program of a package:
//
//	PROGRAM [-0] [-1] [-d] [-l LISTS] [ADDRESS…]
//
// With -1 it checks one by one, otherwise in bulk.
func requireSameAsCore(t *testing.T, program ...string) {
	t.Helper()
	list := append(golden(t), vectors.Generate(6, 50_000)...)
	all := newSample(list, "\x00", "\x00")
	lines := newSample(list[:2500], "\r\n\x00", "\n", "\r\n").withDetails()
	with := func(options ...string) []string { return append(slices.Clone(program), options...) }
	t.Run("in bulk", func(t *testing.T) { all.requireSame(t, with("-0")) })
	t.Run("one by one", func(t *testing.T) { all.requireSame(t, with("-0", "-1")) })
	t.Run("details in bulk", func(t *testing.T) { lines.requireSame(t, with("-d")) })
	t.Run("details one by one", func(t *testing.T) { lines.requireSame(t, with("-d", "-1")) })
	t.Run("arguments", func(t *testing.T) {
		arguments := []string{"jane@example.org", "josé@bücher.example"}
		require.Equal(t, results(arguments), run(t, "", with(arguments...)))
	})
	t.Run("newer lists", func(t *testing.T) { requireTakesLists(t, program) })
}

// requireTakesLists requires that the program of a package takes newer lists over, and
// refuses damaged ones.
func requireTakesLists(t *testing.T, program []string) {
	t.Helper()
	blob := moduletest.NewerLists(t)
	with := func(lists []byte, options ...string) []string {
		return append(append(slices.Clone(program), "-l", blobFile(t, lists)), options...)
	}
	const swapped = "jane@" + moduletest.Swapped
	s := newSample(append([]string{swapped}, vectors.Generate(7, 500)...), "\x00", "\x00").withLists(t, blob)
	require.Contains(t, s.want[0], `"public":true`)
	s.requireSame(t, with(blob, "-0"))
	s.requireSame(t, with(blob, "-0", "-1"))
	requireFails(t, "the blob is damaged: its parts do not add up to its size", with(blob[:len(blob)-1], swapped))
	requireFails(t, "the lists are larger than 4 MiB", with(make([]byte, 4<<20+1), swapped))
}

// requireSurvivesTrap requires that a program of a package, whose arguments are a module
// and newer lists, checks "!" and "?", on which the module fails, and goes on with the
// same lists: it prints the result for an address after each.
func requireSurvivesTrap(t *testing.T, program string) {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "fragile.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Fragile(t), 0o600))
	blob := moduletest.NewerLists(t)
	want := newSample([]string{"jane@" + moduletest.Swapped}, "", "").withLists(t, blob).want[0]
	require.Equal(t, want+want, run(t, "", []string{program, wasm, blobFile(t, blob)}))
}
