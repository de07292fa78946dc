package main

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the bill says about the packages comes from the files that the package managers read.
func TestRequirements(t *testing.T) {
	read := func(name string, data string) requirements {
		var r requirements
		require.NoError(t, r.read(name, []byte(data)))
		return r
	}
	cargo := read("addrspec-1/Cargo.lock", string(must(os.ReadFile("../bindings/rust/Cargo.lock"))(t)))
	require.Len(t, cargo.direct, 4)
	require.Regexp(t, `^pkg:cargo/wasmi@2\.`, cargo.direct[2])
	require.NotEmpty(t, cargo.depends[cargo.direct[2]])
	require.Len(t, (*cargo.libraries[cargo.direct[0]].Hashes)[0].Value, 64)
	maven := read("META-INF/maven/io.github.addrspec/addrspec/pom.xml", string(must(os.ReadFile("../bindings/java/pom.xml"))(t)))
	require.Len(t, maven.direct, 1)
	require.Regexp(t, `^pkg:maven/com\.dylibso\.chicory/runtime@[0-9.]+$`, maven.direct[0])
	python := read("addrspec-1.dist-info/METADATA", "Name: addrspec\nRequires-Dist: wasmtime>=38\nRequires-Dist: pyarrow>=18; extra == 'arrow'\n\nRequires: text\n")
	require.Equal(t, []string{"pkg:pypi/wasmtime"}, python.direct)
	require.Equal(t, []string{"pkg:pypi/wasmtime"}, slices.Collect(maps.Keys(python.libraries)))
	require.Empty(t, read("META-INF/maven/other/other/pom.xml", "<").direct)
}

// The C of the module names the module and what made it; package.sh writes both.
func TestRequirementsOfC(t *testing.T) {
	var r requirements
	require.NoError(t, r.read("addrspec-c-1/module/NOTICE", notice("module")))
	require.Equal(t, []string{"pkg:github/WebAssembly/wabt@1.0.32"}, r.direct)
	require.Equal(t, digestOf([]byte("module")), r.module)
	require.ErrorContains(t, r.read("x/module/NOTICE", []byte("nothing")), "does not name the module")
	require.ErrorContains(t, r.read("x/Cargo.lock", []byte("[[package]]\nname = \"a\"\n")), "package 0 has no name or no version")
}
