package bindings_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
)

// userManifest is the manifest of a user's project. It takes the versions of all other
// crates from the lock file inside ours.
const userManifest = `[package]
name = "user"
version = "0.1.0"
edition = "2024"

[dependencies]
addrspec = { path = "addrspec", default-features = false, features = ["ENGINE"] }

# Quicker to compile; see the README of the crate.
[profile.release.package.wasmparser]
opt-level = 0
`

// crate installs the crate into a project of its own, with example check as its
// program, and returns the project's folder. The folder is named by the crate's
// digest, because all files in a crate have the same time, by which cargo decides what
// to compile.
func crate(t *testing.T, engine string) string {
	t.Helper()
	find(t, "cargo")
	archive := packaged(t, "rust")[0]
	project := filepath.Join(cache(t), "rust", engine+"-"+digest(t, archive))
	if _, err := os.Stat(filepath.Join(project, "Cargo.lock")); err == nil {
		return project
	}
	removeOlder(t, filepath.Join(cache(t), "rust", engine+"-*"))
	require.NoError(t, os.MkdirAll(filepath.Join(project, "src", "bin"), 0o755))
	build(t, project, "tar", "-xzf", archive)
	unpacked := filepath.Join(project, strings.TrimSuffix(filepath.Base(archive), ".crate"))
	require.NoError(t, os.Rename(unpacked, filepath.Join(project, "addrspec")))
	copyFile(t, filepath.Join(project, "addrspec", "examples", "check.rs"), filepath.Join(project, "src", "main.rs"))
	copyFile(t, filepath.Join("rust", "testdata", "trap.rs"), filepath.Join(project, "src", "bin", "trap.rs"))
	manifest := strings.ReplaceAll(userManifest, "ENGINE", engine)
	require.NoError(t, os.WriteFile(filepath.Join(project, "Cargo.toml"), []byte(manifest), 0o600))
	copyFile(t, filepath.Join(project, "addrspec", "Cargo.lock"), filepath.Join(project, "Cargo.lock"))
	return project
}

// cargo runs cargo in a project. Projects share the crates that they compile.
func cargo(t *testing.T, project string, arguments ...string) {
	t.Helper()
	build(t, project, append([]string{"cargo"}, arguments...)...)
}

func removeOlder(t *testing.T, pattern string) {
	t.Helper()
	old, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, folder := range old {
		require.NoError(t, os.RemoveAll(folder))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, content, 0o600))
}

func TestRustCrate(t *testing.T) {
	project := crate(t, "wasmi")
	target := filepath.Join(cache(t), "rust", "target")
	cargo(t, project, "build", "--release", "--quiet", "--target-dir", target)
	requireSameAsCore(t, filepath.Join(target, "release", "user"))
	requireSurvivesTrap(t, filepath.Join(target, "release", "trap"))
}

// wasmtime takes minutes to compile.
func TestRustCrateOnWasmtime(t *testing.T) {
	engines(t)
	useTestCache(t)
	project := crate(t, "cache")
	target := filepath.Join(cache(t), "rust", "target-wasmtime")
	cargo(t, project, "build", "--release", "--quiet", "--target-dir", target)
	requireSameAsCore(t, filepath.Join(target, "release", "user"))
	requireSurvivesTrap(t, filepath.Join(target, "release", "trap"))
	cargo(t, filepath.Join(project, "addrspec"), "test", "--release", "--quiet", "--no-default-features", "--features", "cache", "--target-dir", target)
}

// engines skips a test of a large engine unless it is asked for.
func engines(t *testing.T) {
	t.Helper()
	if os.Getenv("ADDRSPEC_ENGINES") == "" {
		t.Skip("compiles a large engine: set ADDRSPEC_ENGINES=1")
	}
}

func TestRustCrateIsReproducible(t *testing.T) {
	requireReproducible(t, "rust")
}

// The crate's own tests, formatting, lints and documentation, as its users get it.
func TestRustCrateItself(t *testing.T) {
	project := filepath.Join(crate(t, "wasmi"), "addrspec")
	target := filepath.Join(cache(t), "rust", "target")
	cargo(t, project, "test", "--release", "--quiet", "--target-dir", target)
	if exec.Command("cargo", "fmt", "--version").Run() == nil {
		build(t, "rust", "cargo", "fmt", "--check")
	}
	if exec.Command("cargo", "clippy", "--version").Run() == nil {
		cargo(t, project, "clippy", "--release", "--quiet", "--all-targets", "--target-dir", target, "--", "-D", "warnings")
	}
	t.Setenv("RUSTDOCFLAGS", "-D warnings")
	cargo(t, project, "doc", "--release", "--quiet", "--no-deps", "--target-dir", target)
}

// Every name that core gives is one that the crate knows.
func TestRustCrateKnowsAllNames(t *testing.T) {
	requireNames := func(file string, names []string) {
		source, err := fs.ReadFile(os.DirFS("rust/src"), file)
		require.NoError(t, err)
		for _, name := range names {
			require.Contains(t, string(source), `= "`+name+`",`, file)
		}
		require.Equal(t, len(names), strings.Count(string(source), ` = "`), file)
	}
	requireNames("role.rs", roleNames())
	requireNames("refusal.rs", refusalCodes())
}

func roleNames() (names []string) {
	for role := core.Admin; role <= core.HR; role++ {
		names = append(names, role.String())
	}
	return names
}

// refusalCodes returns the codes of all reasons; 0 is that of a valid address.
func refusalCodes() (codes []string) {
	defer func() { _ = recover() }() // the number after the last one is out of range
	for reason := core.Reason(1); ; reason++ {
		codes = append(codes, reason.Code())
	}
}
