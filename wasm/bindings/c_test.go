package bindings_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/vectors"
)

// wasmtimeC is the version of wasmtime's C API in the tests.
const wasmtimeC = "50.0.1"

// strict makes the compiler refuse what the C and C++ standards do not have.
var strict = []string{"-Wall", "-Wextra", "-Werror", "-pedantic"}

// wasmtimeDir returns a directory with include and lib of wasmtime's C API: that of the
// variable ADDRSPEC_WASMTIME_C, or one made of the library in the wheel on PyPI and the
// headers in the crate on crates.io.
func wasmtimeDir(t *testing.T) string {
	if directory := os.Getenv("ADDRSPEC_WASMTIME_C"); directory != "" {
		return directory
	}
	directory := filepath.Join(cache(t), "c", "wasmtime-"+wasmtimeC)
	if _, err := os.Stat(directory); err == nil {
		return directory
	}
	made := filepath.Join(t.TempDir(), "wasmtime")
	copyHeaders(t, filepath.Join(made, "include"))
	copySharedLibrary(t, filepath.Join(made, "lib"))
	require.NoError(t, os.MkdirAll(filepath.Dir(directory), 0o755))
	build(t, ".", "cp", "-R", made, directory)
	return directory
}

// copyHeaders copies the headers of the crate, which cargo unpacks to show what is in it.
func copyHeaders(t *testing.T, directory string) {
	t.Helper()
	build(t, t.TempDir(), find(t, "cargo"), "info", "--quiet", "wasmtime-c-api-impl@"+wasmtimeC)
	home := os.Getenv("CARGO_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		require.NoError(t, err)
		home = filepath.Join(user, ".cargo")
	}
	found, err := filepath.Glob(filepath.Join(home, "registry", "src", "*", "wasmtime-c-api-impl-"+wasmtimeC, "include"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	require.NoError(t, os.CopyFS(directory, os.DirFS(found[0])))
	configure(t, filepath.Join(directory, "wasmtime", "conf.h"))
}

// configure writes the header with wasmtime's features, as its build does: the wheel's
// library has all of them. The size of a value depends on it.
func configure(t *testing.T, header string) {
	t.Helper()
	template := readBytes(t, header+".in")
	text := regexp.MustCompile(`(?m)^#cmakedefine.*_DISABLE_.*$`).ReplaceAll(template, nil)
	text = regexp.MustCompile(`(?m)^#cmakedefine`).ReplaceAll(text, []byte("#define"))
	require.NoError(t, os.WriteFile(header, text, 0o600))
}

// copySharedLibrary copies the library of the wheel under the name that linkers look for.
func copySharedLibrary(t *testing.T, directory string) {
	t.Helper()
	python := os.Getenv("ADDRSPEC_PYTHON")
	if python == "" || exec.Command(python, "-m", "pip", "--version").Run() != nil {
		python = find(t, "python3")
	}
	wheel := t.TempDir()
	build(t, wheel, python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "wasmtime=="+wasmtimeC)
	found, err := filepath.Glob(filepath.Join(wheel, "*.whl"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	build(t, wheel, python, "-m", "zipfile", "-e", found[0], ".")
	libraries, err := filepath.Glob(filepath.Join(wheel, "wasmtime", "*", "_libwasmtime.so"))
	require.NoError(t, err)
	if len(libraries) != 1 {
		t.Skip("the wheel of wasmtime has no library for this system")
	}
	require.NoError(t, os.MkdirAll(directory, 0o755))
	copyFile(t, libraries[0], filepath.Join(directory, "libwasmtime.so"))
}

// cSources unpacks the archive of the library and returns its directory.
func cSources(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"cc", "make", "pkg-config"} {
		find(t, tool)
	}
	archive := artifact(t, "c")
	directory := t.TempDir()
	build(t, directory, "tar", "-xzf", archive)
	return filepath.Join(directory, strings.TrimSuffix(filepath.Base(archive), ".tar.gz"))
}

// installed builds and installs the library, and returns its sources and its prefix.
func installed(t *testing.T) (sources, prefix string) {
	t.Helper()
	wasmtime := wasmtimeDir(t)
	sources, prefix = cSources(t), t.TempDir()
	build(t, sources, "make", "--silent", "install", "WASMTIME="+wasmtime, "PREFIX="+prefix, "CFLAGS=-O2 -Werror")
	return sources, prefix
}

func TestCLibrary(t *testing.T) {
	useTestCache(t)
	sources, prefix := installed(t)
	project := t.TempDir()
	copyFile(t, filepath.Join(sources, "examples", "check.c"), filepath.Join(project, "check.c"))
	t.Setenv("PKG_CONFIG_PATH", filepath.Join(prefix, "lib", "pkgconfig"))
	for _, name := range []string{"shared", "static"} { // in this order: the linker prefers the shared library
		t.Run(name, func(t *testing.T) {
			static := map[string]string{"static": "--static"}[name]
			link := "-Wl,-rpath," + filepath.Join(prefix, "lib")
			if static != "" {
				require.NoError(t, os.Remove(filepath.Join(prefix, "lib", "libaddrspec.so")))
			}
			build(t, project, "sh", "-c", `cc "$@" -o `+name+` check.c $(pkg-config `+static+` --cflags --libs addrspec)`, "cc",
				"-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", link)
			program := filepath.Join(project, name)
			pack{many: []string{program}, single: []string{program, "-1"}}.requireSameBytes(t)
			policySample(t).requireSame(t, []string{program, "-p"})
		})
	}
}

// A user's project in C++ with CMake.
func TestCLibraryWithCMake(t *testing.T) {
	cmake := find(t, "cmake")
	find(t, "c++")
	useTestCache(t)
	sources, prefix := installed(t)
	project := t.TempDir()
	copyFile(t, filepath.Join(sources, "tests", "use.cc"), filepath.Join(project, "use.cc"))
	require.NoError(t, os.WriteFile(filepath.Join(project, "CMakeLists.txt"), []byte(`cmake_minimum_required(VERSION 3.13)
project(user CXX)
set(CMAKE_CXX_STANDARD 11)
find_package(addrspec 0.3 REQUIRED)
add_executable(use use.cc)
target_compile_options(use PRIVATE `+strings.Join(strict, " ")+`)
target_link_libraries(use addrspec::addrspec)
`), 0o600))
	build(t, project, cmake, "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH="+prefix)
	build(t, project, cmake, "--build", "build")
	require.Equal(t, "example.org\n", run(t, "", []string{filepath.Join(project, "build", "use")}))
}

// The library's own tests, and every kind of result, under the address and undefined
// behaviour sanitizers, which also find leaks.
func TestCLibraryUnderSanitizers(t *testing.T) {
	useTestCache(t)
	wasmtime := wasmtimeDir(t)
	sources := cSources(t)
	build(t, sources, "make", "--silent", "all", "check", "WASMTIME="+wasmtime,
		"CFLAGS=-g -O1 -Werror -fsanitize=address,undefined -fno-sanitize-recover=all")
	program := filepath.Join(sources, "build", "check")
	s := newSample(append(golden(t), vectors.Generate(8, 5_000)...), "\x00", "\x00").withDetails()
	s.requireSame(t, []string{program, "-0", "-d"})
	s.requireSame(t, []string{program, "-0", "-d", "-1"})
}

// decoder are the sources that read what the module writes.
var decoder = []string{"src/facts.c", "src/json.c", "src/record.c", "src/fail.c"}

// seeds writes results of core to files, as addrspec_check_many gives them with reports.
func seeds(t *testing.T, list []string) string {
	t.Helper()
	directory := t.TempDir()
	native := vectors.NativeDetails()
	for _, email := range list {
		json := native(email)
		record := binary.LittleEndian.AppendUint32(nil, uint32(len(json)))
		record = append(record, make([]byte, 4+4*13)...)
		record = append(record, json...)
		require.NoError(t, os.WriteFile(filepath.Join(directory, digest(record)), record, 0o600))
	}
	return directory
}

// The fuzz target of the decoder, on results and on what libFuzzer makes of them.
func TestCLibraryFuzz(t *testing.T) {
	clang := find(t, "clang")
	sources, program := cSources(t), filepath.Join(t.TempDir(), "fuzz")
	build(t, sources, append([]string{clang, "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
		"-Iinclude", "-Isrc", "-o", program, "tests/fuzz_facts.c"}, decoder...)...)
	build(t, t.TempDir(), program, "-runs=100000", "-max_len=4096", "-seed=1", seeds(t, vectors.Generate(9, 200)))
}

// The same target in valgrind, on results, cut off and changed. Not the whole library:
// valgrind takes a minute of processor time to compile the module.
func TestCLibraryInValgrind(t *testing.T) {
	valgrind := find(t, "valgrind")
	sources, program := cSources(t), filepath.Join(t.TempDir(), "replay")
	build(t, sources, append([]string{"cc", "-g", "-O1", "-std=c11", "-Iinclude", "-Isrc", "-o", program, "tests/fuzz_facts.c", "tests/replay.c"}, decoder...)...)
	corpus := seeds(t, vectors.Generate(9, 20))
	files, err := filepath.Glob(filepath.Join(corpus, "*"))
	require.NoError(t, err)
	build(t, corpus, append([]string{valgrind, "--quiet", "--error-exitcode=3", "--leak-check=full", program}, files...)...)
}

func TestCLibraryIsReproducible(t *testing.T) {
	requireReproducible(t, "c")
}

// The library discards an instance that trapped, and goes on with the same lists.
func TestCLibraryAfterTrap(t *testing.T) {
	useTestCache(t)
	wasmtime := wasmtimeDir(t)
	sources := cSources(t)
	build(t, sources, "make", "--silent", "build/trap", "WASMTIME="+wasmtime, "CFLAGS=-O2 -Werror")
	requireSurvivesTrap(t, filepath.Join(sources, "build", "trap"))
	requireRejectsOlder(t, filepath.Join(sources, "build", "trap"))
}
