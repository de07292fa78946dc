package bindings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	var determines []string
	for _, file := range []string{"c/Makefile", "c/package.sh", "c/addrspec.pc.in", "c/include/addrspec.h"} {
		determines = append(determines, string(readBytes(t, file)))
	}
	return builtOnce(t, "c/src", func(directory string) {
		archive := artifact(t, "c")
		build(t, directory, "tar", "-xzf", archive)
		sources := filepath.Join(directory, "sources")
		require.NoError(t, os.Rename(filepath.Join(directory, strings.TrimSuffix(filepath.Base(archive), ".tar.gz")), sources))
		build(t, sources, "make", "--silent", "install", "PREFIX="+filepath.Join(directory, "prefix"))
	}, determines...)
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
