package bindings_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// strict makes the compiler refuse what the C and C++ standards do not have.
var strict = []string{"-Wall", "-Wextra", "-Werror", "-pedantic"}

// libaddrspec returns the prefix of an installed C library, with include and lib: that of
// the variable ADDRSPEC_C, or one made of the source archive, once for each state of the
// module and the library's sources, since compiling the module takes minutes.
func libaddrspec(t *testing.T) (prefix string) {
	t.Helper()
	if prefix := os.Getenv("ADDRSPEC_C"); prefix != "" {
		return prefix
	}
	return filepath.Join(cLibrary(t), "prefix")
}

// cLibrary returns a directory with sources, the unpacked archive where the library was
// built, and prefix, where it is installed.
func cLibrary(t *testing.T) (directory string) {
	t.Helper()
	for _, tool := range []string{"cc", "make", "pkg-config"} {
		find(t, tool)
	}
	return builtOnce(t, "c/src", func(directory string) {
		archive := artifact(t, "c")
		build(t, directory, "tar", "-xzf", archive)
		sources := filepath.Join(directory, "sources")
		require.NoError(t, os.Rename(filepath.Join(directory, strings.TrimSuffix(filepath.Base(archive), ".tar.gz")), sources))
		build(t, sources, "make", "--silent", "install", "PREFIX="+filepath.Join(directory, "prefix"))
	}, determinesC(t)...)
}

// determinesC returns what determines the library besides the module and c/src.
func determinesC(t *testing.T) (texts []string) {
	t.Helper()
	for _, file := range []string{"Makefile", "package.sh", "binaries/package.sh", "addrspec.pc.in", "include/addrspec.h", "cmake/addrspec-config.cmake.in"} {
		texts = append(texts, string(readBytes(t, "c/"+file)))
	}
	return texts
}

// compileC compiles a program with the installed library and returns its path.
func compileC(t *testing.T, compiler, source, link string) string {
	t.Helper()
	prefix, program := libaddrspec(t), filepath.Join(t.TempDir(), "program")
	t.Setenv("PKG_CONFIG_PATH", filepath.Join(prefix, "lib", "pkgconfig"))
	build(t, ".", append([]string{"sh", "-c", compiler + ` "$@" $(pkg-config --cflags addrspec) ` + link, "sh", "-o", program, source}, strict...)...)
	return program
}

// How a program is linked with each of the two libraries.
const (
	sharedC = `-Wl,-rpath,$(pkg-config --variable=libdir addrspec) $(pkg-config --libs addrspec)`
	staticC = `$(pkg-config --variable=libdir addrspec)/libaddrspec.a -lm`
)

func TestCLibrary(t *testing.T) {
	for name, link := range map[string]string{"shared": sharedC, "static": staticC} {
		t.Run(name, func(t *testing.T) {
			program := compileC(t, "cc -std=c11", "c/examples/check.c", link)
			pack{many: []string{program}, single: []string{program, "-1"}}.requireSameBytes(t)
			policySample(t).requireSame(t, []string{program, "-p"})
		})
	}
}

func TestCLibraryIsReproducible(t *testing.T) {
	requireReproducible(t, "c")
}

// A user's project in C++ with CMake.
func TestCLibraryWithCMake(t *testing.T) {
	cmake := find(t, "cmake")
	find(t, "c++")
	prefix, project := libaddrspec(t), t.TempDir()
	copyFile(t, "c/tests/use.cc", filepath.Join(project, "use.cc"))
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

// instrumented compiles a program of c/tests or c/examples with the library's own sources,
// which the flags instrument, and the module, which is not: what it may access is compared
// with the size of its memory, and compiling it again takes minutes.
func instrumented(t *testing.T, source string, command ...string) string {
	t.Helper()
	find(t, command[0])
	library, program := cLibrary(t), filepath.Join(t.TempDir(), "program")
	sources := filepath.Join(library, "sources")
	command = append(append(command, "-std=c11", "-g", "-O1"), strict...)
	for _, directory := range []string{"include", "src", "module"} {
		command = append(command, "-I"+filepath.Join(sources, directory))
	}
	build(t, ".", append(command, "-o", program, source, "c/src/addrspec.c", "c/src/result.c", "c/src/runtime.c",
		filepath.Join(sources, "build", "module.o"), "-lm", "-lpthread")...)
	return program
}

// sanitize are the flags of the address and undefined behaviour sanitizers, which also find
// leaks.
var sanitize = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// The library's own tests, and every kind of result.
func TestCLibraryUnderSanitizers(t *testing.T) {
	cc := append([]string{"cc"}, sanitize...)
	run(t, "", []string{instrumented(t, "c/tests/test.c", cc...)})
	program := instrumented(t, "c/examples/check.c", cc...)
	s := newSample(append(golden(t), vectors.Generate(8, 5_000)...), "\x00", "\x00").withDetails()
	s.requireSame(t, []string{program, "-0", "-d"})
	s.requireSame(t, []string{program, "-0", "-d", "-1"})
	policySample(t).requireSame(t, []string{program, "-p"})
}

// Eight threads, each with a checker.
func TestCLibraryUnderThreadSanitizer(t *testing.T) {
	run(t, "", []string{instrumented(t, "c/tests/test.c", "cc", "-fsanitize=thread")})
}

// Traps and other defects, each allocation denied, a fork, and a thread with a small stack.
func TestCLibraryAfterFaults(t *testing.T) {
	blob := blobFile(t, moduletest.NewerLists(t))
	wrap := "-Wl,--wrap=Z_addrspecZ_addrspec_check,--wrap=malloc,--wrap=calloc,--wrap=realloc"
	run(t, "", []string{instrumented(t, "c/tests/faults.c", "cc", wrap), blob})
	run(t, "", []string{instrumented(t, "c/tests/faults.c", append([]string{"cc", wrap}, sanitize...)...), blob})
}

// A million addresses in one checker.
func TestCLibraryOnAMillion(t *testing.T) {
	leftToAll(t, "it checks a million addresses twice")
	program := compileC(t, "cc -std=c11", "c/examples/check.c", staticC)
	newSample(vectors.Generate(10, 1_000_000), "\x00", "\x00").requireSame(t, []string{program, "-0"})
}

// seeds writes results of core to files, as fuzz_result.c reads them.
func seeds(t *testing.T, list []string) string {
	t.Helper()
	directory := t.TempDir()
	native := vectors.NativeDetails()
	for _, email := range list {
		json := native(email)
		facts := uint32(bytes.Count(json[:min(len(json), 40+len(email))], []byte(`"valid":true`)))
		seed := binary.LittleEndian.AppendUint32(nil, uint32(len(json)))
		seed = binary.LittleEndian.AppendUint32(seed, facts)
		seed = append(append(seed, make([]byte, 96-4)...), json...)
		require.NoError(t, os.WriteFile(filepath.Join(directory, digest(seed)), seed, 0o600))
	}
	return directory
}

// The fuzz target of what reads the module's output, on results and on what libFuzzer makes
// of them.
func TestCLibraryFuzz(t *testing.T) {
	clang, program := find(t, "clang"), filepath.Join(t.TempDir(), "fuzz")
	build(t, ".", clang, "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
		"-Ic/include", "-Ic/src", "-o", program, "c/tests/fuzz_result.c", "c/src/result.c")
	build(t, t.TempDir(), program, "-runs=100000", "-max_len=4096", "-seed=1", seeds(t, vectors.Generate(9, 200)))
}

// The whole library in valgrind, with every error shown.
func TestCLibraryInValgrind(t *testing.T) {
	valgrind := find(t, "valgrind")
	program := compileC(t, "cc -std=c11 -g", "c/examples/check.c", staticC)
	s := newSample(vectors.Generate(9, 300), "\x00", "\x00").withDetails()
	s.requireSame(t, []string{valgrind, "--quiet", "--error-exitcode=3", "--leak-check=full", "--show-leak-kinds=all", program, "-0", "-d"})
}

// What the shared library exports, what it needs, and its variables: the numbers of the
// types of functions, which its constructor writes, and two pointers of each thread.
func TestCLibrarySymbols(t *testing.T) {
	nm, prefix := find(t, "nm"), libaddrspec(t)
	shared, static := filepath.Join(prefix, "lib", "libaddrspec.so"), filepath.Join(prefix, "lib", "libaddrspec.a")
	header := string(readBytes(t, filepath.Join(prefix, "include", "addrspec.h")))
	exported := regexp.MustCompile(`(?m) (\w+)$`).FindAllStringSubmatch(run(t, "", []string{nm, "-D", "--defined-only", shared}), -1)
	require.NotEmpty(t, exported)
	for _, name := range exported {
		require.Contains(t, header, name[1]+"(")
	}
	for _, name := range regexp.MustCompile(`(?m)^\S+ [A-TV-Z] (\w+)$`).FindAllStringSubmatch(run(t, "", []string{nm, static}), -1) {
		require.Regexp(t, "^(addrspec_|Z_addrspec)", name[1])
	}
	for _, name := range regexp.MustCompile(`(?m) U (\w+)@`).FindAllStringSubmatch(run(t, "", []string{nm, "-D", shared}), -1) {
		require.Contains(t, libc, name[1])
	}
	var variables []string
	for _, name := range regexp.MustCompile(`(?m) [bBdDsSC] (\w+)$`).FindAllStringSubmatch(run(t, "", []string{nm, static}), -1) {
		if !strings.HasPrefix(name[1], "elem_segment_exprs_") { // constant, but not declared so
			variables = append(variables, name[1])
		}
	}
	require.ElementsMatch(t, []string{"caught", "trap", "func_types"}, variables)
}

// libc is what the library needs of the C library.
var libc = []string{"__cxa_finalize", "__tls_get_addr", "_setjmp", "calloc", "free", "longjmp", "malloc", "memcmp", "memcpy", "memmove", "memset",
	"realloc", "snprintf", "strchr", "strlen", "strnlen", "strstr", "vsnprintf"}

// cBinaries returns the directory of the unpacked archive for a platform.
func cBinaries(t *testing.T, platform, compiler string) string {
	t.Helper()
	find(t, compiler)
	unpack := func(archive string) []string { return []string{"tar", "-xzf", archive} }
	if strings.HasPrefix(platform, "windows") {
		find(t, "zip")
		python := find(t, "python3")
		unpack = func(archive string) []string { return []string{python, "-m", "zipfile", "-e", archive, "."} }
	}
	directory := builtOnce(t, "c/src", func(directory string) {
		wasm := filepath.Join(directory, "addrspec.wasm")
		require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
		t.Setenv("ADDRSPEC_MODULE", wasm)
		build(t, "c/binaries", "./package.sh", directory, platform)
		archive, err := filepath.Glob(filepath.Join(directory, "addrspec-c-*"))
		require.NoError(t, err)
		require.Len(t, archive, 1)
		build(t, directory, unpack(archive[0])...)
	}, append(determinesC(t), platform)...)
	found, err := filepath.Glob(filepath.Join(directory, "addrspec-c-*-"+platform))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// Linux on arm64, emulated, where a product and a sum could be one operation.
func TestCLibraryOnArm64(t *testing.T) {
	qemu := find(t, "qemu-aarch64")
	library, program := cBinaries(t, "linux-arm64", "aarch64-linux-gnu-gcc"), filepath.Join(t.TempDir(), "check")
	build(t, ".", append([]string{"aarch64-linux-gnu-gcc", "-std=c11", "-static", "-I" + filepath.Join(library, "include"), "-o", program,
		"c/examples/check.c", filepath.Join(library, "lib", "libaddrspec.a"), "-lm"}, strict...)...)
	pack{many: []string{qemu, program}, single: []string{qemu, program, "-1"}}.requireSameBytes(t)
	policySample(t).requireSame(t, []string{qemu, program, "-p"})
}

// Windows, by its import library and DLL, in Wine.
func TestCLibraryOnWindows(t *testing.T) {
	find(t, "x86_64-w64-mingw32-gcc")
	wine := moduletest.Tool(t, "wine64", "/usr/lib/wine/wine64")
	library, project := cBinaries(t, "windows-x86_64", "x86_64-w64-mingw32-gcc"), t.TempDir()
	program := filepath.Join(project, "check.exe")
	build(t, ".", append([]string{"x86_64-w64-mingw32-gcc", "-std=c11", "-I" + filepath.Join(library, "include"), "-o", program,
		"c/examples/check.c", "-L" + filepath.Join(library, "lib"), "-laddrspec"}, strict...)...)
	copyFile(t, filepath.Join(library, "lib", "addrspec.dll"), filepath.Join(project, "addrspec.dll"))
	t.Setenv("WINEPREFIX", filepath.Join(project, "wine"))
	t.Setenv("WINEDEBUG", "-all")
	newSample(append(golden(t), vectors.Generate(6, 50_000)...), "\x00", "\x00").requireSame(t, []string{wine, program, "-0"})
	policySample(t).requireSame(t, []string{wine, program, "-p"})
}

// The sources without the Makefile, by the line in README.md.
func TestCLibraryInOneLine(t *testing.T) {
	leftToAll(t, "it compiles the module once more")
	line := regexp.MustCompile(`(?m)^cc .*module/module\.c.*$`).Find(readBytes(t, "c/README.md"))
	require.NotEmpty(t, line)
	sources := filepath.Join(cLibrary(t), "sources")
	program := filepath.Join(t.TempDir(), "program")
	command := strings.NewReplacer("-o program", "-o "+program, "program.c", "examples/check.c").Replace(string(line))
	build(t, sources, "sh", "-c", command)
	newSample(golden(t), "\x00", "\x00").requireSame(t, []string{program, "-0"})
}
