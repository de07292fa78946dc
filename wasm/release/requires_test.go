package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the bill says about the packages comes from the files that the package managers read.
func TestRequirements(t *testing.T) {
	read := func(name string, data string) (*bill, []string) {
		p := packageFile{bill: newBill(), ref: "file/x"}
		require.NoError(t, p.readManifest(name, []byte(data)))
		return p.bill, p.depends["file/x"]
	}
	b, cargo := read("addrspec-1/Cargo.lock", string(must(os.ReadFile("../bindings/rust/Cargo.lock"))(t)))
	require.Len(t, cargo, 4)
	require.Regexp(t, `^pkg:cargo/wasmi@2\.`, cargo[2])
	require.NotEmpty(t, b.depends[cargo[2]])
	require.Len(t, (*b.components[cargo[0]].Hashes)[0].Value, 64)
	_, maven := read("META-INF/maven/io.github.addrspec/addrspec/pom.xml", string(must(os.ReadFile("../bindings/java/pom.xml"))(t)))
	require.Len(t, maven, 1)
	require.Regexp(t, `^pkg:maven/com\.dylibso\.chicory/runtime@[0-9.]+$`, maven[0])
	b, python := read("addrspec-1.dist-info/METADATA", "Name: addrspec\nRequires-Dist: wasmtime>=38\nRequires-Dist: pyarrow>=18; extra == 'arrow'\n\nRequires: text\n")
	require.Equal(t, []string{"pkg:pypi/wasmtime"}, python)
	require.Len(t, b.components, 1)
	_, other := read("META-INF/maven/other/other/pom.xml", "<")
	require.Empty(t, other)
}

// The C of the module names the module and what made it; package.sh writes both.
func TestRequirementsOfC(t *testing.T) {
	p := packageFile{bill: newBill(), ref: "file/x"}
	require.NoError(t, p.readManifest("addrspec-c-1/module/NOTICE", notice("module")))
	require.Equal(t, []string{"pkg:github/WebAssembly/wabt@1.0.32"}, p.depends["file/x"])
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte("module"))), p.module)
	require.ErrorContains(t, p.readManifest("x/module/NOTICE", []byte("nothing")), "does not name the module")
	require.ErrorContains(t, p.readManifest("x/Cargo.lock", []byte("[[package]]\nname = \"a\"\n")), "package 0 has no name or no version")
}
