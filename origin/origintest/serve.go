package origintest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// EdgeSecret is the --edge-secret of the tests.
const EdgeSecret = "the secret of a test's deployment"

// NewDatabase returns the --database of an SQLite file that does not exist yet,
// in a folder of the test.
func NewDatabase(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(databaseFolder(t), "addrspec.db")
}

// databaseFolder returns a new folder, in memory if there is room. While browsers and
// compilers write to the same disk, a flush can hang for seconds, and the ledger then
// answers 503 as it should. Only the database is there: Deno may not read /dev.
func databaseFolder(t testing.TB) string {
	t.Helper()
	if !memoryHasRoom() {
		return t.TempDir()
	}
	folder, err := os.MkdirTemp(memory, "addrspec-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// ServeArgs returns the arguments of `addrspec serve` on a free port, with a module
// built from the current sources. A later flag overrides an earlier one.
func ServeArgs(t testing.TB, database string, flags ...string) []string {
	t.Helper()
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database,
		"--module", ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, flags...)
}

// ModuleFile writes the module, built from the current sources, to a file.
func ModuleFile(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "addrspec.wasm")
	if err := os.WriteFile(file, moduletest.Bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
