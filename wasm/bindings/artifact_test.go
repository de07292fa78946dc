package bindings_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// artifact builds the package of a language, which is one file, and returns its path.
func artifact(t *testing.T, language string) string {
	t.Helper()
	directory := t.TempDir()
	buildPackage(t, language, directory)
	files, err := filepath.Glob(filepath.Join(directory, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

// requireReproducible requires that package.sh gives the same bytes again.
func requireReproducible(t *testing.T, language string) {
	t.Helper()
	leftToCI(t)
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	first, second := artifact(t, language), artifact(t, language)
	require.Equal(t, filepath.Base(first), filepath.Base(second))
	require.Equal(t, digest(readBytes(t, first)), digest(readBytes(t, second)))
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// copyFile copies a file of an unpacked package into a user's project.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.WriteFile(to, readBytes(t, from), 0o600))
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

// requireRejectsOlder requires that the same program rejects a module of another major
// version of the interface, and names both versions.
func requireRejectsOlder(t *testing.T, program string) {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "older.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Older(t), 0o600))
	out, err := exec.Command(program, wasm, "../../lists/lists.blob").CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, `interface has version 1\.2; this \w+ needs 2`, string(out))
}
