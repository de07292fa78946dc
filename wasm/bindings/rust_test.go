package bindings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

# So that the crate's own tests share what is compiled.
[workspace]
members = ["addrspec"]

# The validator runs once per start: it needs no optimisation.
[profile.release.package.wasmparser]
opt-level = 0
`

// crate installs the crate into a project of its own, with example check as its
// program, and returns the project's directory.
func crate(t *testing.T, engine string) string {
	t.Helper()
	find(t, "cargo")
	manifest := strings.ReplaceAll(userManifest, "ENGINE", engine)
	return builtOnce(t, "rust", func(project string) {
		archive := artifact(t, "rust")
		require.NoError(t, os.MkdirAll(filepath.Join(project, "src", "bin"), 0o755))
		build(t, project, "tar", "-xzf", archive)
		unpacked := filepath.Join(project, strings.TrimSuffix(filepath.Base(archive), ".crate"))
		require.NoError(t, os.Rename(unpacked, filepath.Join(project, "addrspec")))
		copyFile(t, filepath.Join(project, "addrspec", "examples", "check.rs"), filepath.Join(project, "src", "main.rs"))
		copyFile(t, "rust/testdata/trap.rs", filepath.Join(project, "src", "bin", "trap.rs"))
		copyFile(t, filepath.Join(project, "addrspec", "Cargo.lock"), filepath.Join(project, "Cargo.lock"))
		require.NoError(t, os.WriteFile(filepath.Join(project, "Cargo.toml"), []byte(manifest), 0o600))
	}, manifest)
}

// cargo runs cargo in a project. Projects share what they compile. Cargo takes the crate of
// an earlier project for this one's, since both have the same path in their project, unless
// a file is newer; those of an archive are as old as their commit.
func cargo(t *testing.T, project, target string, arguments ...string) {
	t.Helper()
	now := time.Now()
	for _, name := range []string{"addrspec.wasm", "lib.rs"} {
		require.NoError(t, os.Chtimes(filepath.Join(project, "addrspec", "src", name), now, now))
	}
	t.Setenv("CARGO_TARGET_DIR", filepath.Join(cache(t), "rust", target))
	build(t, project, append([]string{"cargo"}, arguments...)...)
}

// requireInstalled builds the user's project and requires the bytes of core.
func requireInstalled(t *testing.T, project, target string) {
	t.Helper()
	cargo(t, project, target, "build", "--release", "--quiet")
	programs := filepath.Join(cache(t), "rust", target, "release")
	program := filepath.Join(programs, "user")
	pack{many: []string{program}, single: []string{program, "-1"}}.requireSameBytes(t)
	placeSample(t).requireSame(t, []string{program, "-p"})
	requireSurvivesTrap(t, filepath.Join(programs, "trap"))
	requireRejectsOlder(t, filepath.Join(programs, "trap"))
}

func TestRustCrate(t *testing.T) {
	requireInstalled(t, crate(t, "wasmi"), "target-wasmi")
}

// wasmtime takes minutes to compile.
func TestRustCrateOnWasmtime(t *testing.T) {
	leftToAll(t, "it takes minutes to compile")
	useTestCache(t)
	project := crate(t, "cache")
	requireInstalled(t, project, "target-wasmtime")
	cargo(t, project, "target-wasmtime", "test", "--release", "--quiet", "--package", "addrspec", "--no-default-features", "--features", "cache")
}

func TestRustCrateIsReproducible(t *testing.T) {
	requireReproducible(t, "rust")
}

// The crate's own tests, formatting, lints and documentation, as its users get it.
func TestRustCrateItself(t *testing.T) {
	project := crate(t, "wasmi")
	cargo(t, project, "target-wasmi", "test", "--release", "--quiet", "--package", "addrspec")
	if exec.Command("cargo", "fmt", "--version").Run() == nil {
		build(t, "rust", "cargo", "fmt", "--check")
	}
	if exec.Command("cargo", "clippy", "--version").Run() == nil {
		cargo(t, project, "target-wasmi", "clippy", "--release", "--quiet", "--package", "addrspec", "--all-targets", "--", "-D", "warnings")
	}
	t.Setenv("RUSTDOCFLAGS", "-D warnings")
	cargo(t, project, "target-wasmi", "doc", "--release", "--quiet", "--no-deps", "--package", "addrspec")
}

// Every name that core gives is one that the crate knows.
func TestRustCrateKnowsAllNames(t *testing.T) {
	requireNames := func(file string, names []string) {
		source := string(readBytes(t, "rust/src/"+file))
		for _, name := range names {
			requireLine(t, "rust/src/"+file, ` = "`+name+`",`)
		}
		require.Equal(t, len(names), strings.Count(source, ` = "`), file)
	}
	requireNames("role.rs", roleNames())
	requireNames("refusal.rs", refusalCodes())
}

// The package for Python knows every name, for type checkers.
func TestPythonKnowsAllNames(t *testing.T) {
	for _, code := range refusalCodes() {
		requireLine(t, "python/addrspec/_names.py", `    "`+code+`",`)
	}
	for _, name := range roleNames() {
		requireLine(t, "python/addrspec/_names.py", `"`+name+`"`)
	}
}

// requireLine requires text in a file of this directory. It names both in place of the whole file, so
// that a new name in package core says where to add it.
func requireLine(t *testing.T, file, text string) {
	t.Helper()
	require.True(t, strings.Contains(string(readBytes(t, file)), text), "add to wasm/bindings/%s a line with %s", file, text)
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
