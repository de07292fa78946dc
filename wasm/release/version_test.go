package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
)

// Every manifest has the version of core/version.go.
func TestManifestsHaveTheVersion(t *testing.T) {
	tree := ourTree(t)
	names, err := tree.files(t.Context())
	require.NoError(t, err)
	all, err := findManifests(tree.root, names)
	require.NoError(t, err)
	var found []string
	for _, m := range all {
		found = append(found, m.name)
	}
	require.Subset(t, found, []string{sourceFile, "edge/package.json", "edge/package-lock.json", "wasm/bindings/python/pyproject.toml", "wasm/bindings/python/CHANGELOG.md", "wasm/bindings/python/addrspec/__init__.py", "wasm/release/CHANGELOG.md", "wasm/release/README.md"})
	require.NoError(t, checkVersion(tree.root, all, core.Version))
}

// kinds has a manifest of each kind, with version 0.3.0 and other versions around it.
var kinds = map[string]string{
	"core/version.go":                     "package core\n\n// Version is.\nconst Version = \"0.3.0\"\n",
	"wasm/bindings/python/pyproject.toml": "[build-system]\nrequires = [\"x==0.1.0\"]\n\n[project]\nname = \"addrspec\"\nversion = \"0.3.0\"\n",
	"wasm/bindings/rust/Cargo.toml":       "[package]\nname = \"addrspec\"\nversion = \"0.3.0\"\n\n[dependencies]\nwasmi = { version = \"0.1.0\" }\n",
	"wasm/bindings/rust/Cargo.lock":       "[[package]]\nname = \"adler\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"addrspec\"\nversion = \"0.3.0\"\n",
	"wasm/bindings/java/pom.xml":          "<project>\n  <groupId>io.github.addrspec</groupId>\n  <artifactId>addrspec</artifactId>\n  <version>0.3.0</version>\n  <x><version>0.1.0</version></x>\n</project>\n",
	"wasm/bindings/c/include/addrspec.h":  "#define ADDRSPEC_OTHER \"0.1.0\"\n#define ADDRSPEC_VERSION \"0.3.0\"\n",
	"edge/package.json":                   "{\n  \"name\": \"addrspec\",\n  \"version\": \"0.3.0\",\n  \"x\": {\"version\": \"0.1.0\"}\n}\n",
	"edge/package-lock.json":              "{\n  \"name\": \"addrspec\",\n  \"packages\": {\n    \"\": {\n      \"name\": \"addrspec\",\n      \"version\": \"0.3.0\"\n    }\n  }\n}\n",
}

// documents have the version in several lines, and versions that are not ours.
var documents = map[string]string{
	"README.md":                                 "`addrspec-0.3.0-linux-amd64.tar.gz`, `go get x/addrspec/core@v0.3.0`\n| addrspec 0.1.0 | measured |\n",
	"wasm/bindings/java/README.md":              "<artifactId>addrspec</artifactId>\n  <version>0.3.0</version>\n",
	"wasm/bindings/java/example/pom.xml":        "  <groupId>org.example</groupId>\n  <artifactId>example</artifactId>\n  <version>0.1.0</version>\n    <groupId>io.github.addrspec</groupId>\n    <artifactId>addrspec</artifactId>\n    <version>0.3.0</version>\n",
	"wasm/bindings/engines.md":                  "spark-sql --jars addrspec-spark-0.3.0.jar\nio.github.addrspec:addrspec-flink:0.3.0\nSpark 4.3.0\n",
	"wasm/bindings/python/addrspec/__init__.py": "__version__ = \"0.3.0\"\n",
}

// others are manifests that must not be changed.
var others = map[string]string{
	"wasm/bindings/python/tests/pyproject.toml": "[project]\nname = \"trial\"\nversion = \"0.3.0\"\n",
	"edge/runtimes/package.json":                "{\n  \"name\": \"runtimes\",\n  \"version\": \"0.3.0\"\n}\n",
	"origin/package.json":                       "{\n  \"name\": \"addrspec\",\n  \"version\": \"0.3.0\"\n}\n",
}

func TestSetVersion(t *testing.T) {
	tree := newTree(t, kinds)
	write(t, tree.root, documents)
	write(t, tree.root, others)
	write(t, tree.root, map[string]string{"wasm/bindings/python/CHANGELOG.md": "# Changes\n\nWhat is new.\n\n## 0.3.0\n\n## 0.2.0\n"})
	names, err := tree.files(t.Context())
	require.NoError(t, err)
	all, err := findManifests(tree.root, names)
	require.NoError(t, err)
	require.Len(t, all, len(kinds)+len(documents)+1)
	var out strings.Builder
	require.NoError(t, setVersion(tree.root, all, "0.4.0", &out))
	for name, text := range kinds {
		require.Equal(t, strings.Replace(text, "0.3.0", "0.4.0", 1), read(t, tree.root, name))
	}
	for name, text := range documents {
		require.Equal(t, strings.ReplaceAll(text, "0.3.0", "0.4.0"), read(t, tree.root, name))
	}
	for name, text := range others {
		require.Equal(t, text, read(t, tree.root, name))
	}
	require.Contains(t, out.String(), "write an entry: wasm/bindings/python/CHANGELOG.md")
	require.EqualError(t, checkVersion(tree.root, all, "0.4.0"), "core/version.go has 0.4.0, but\n"+
		"  wasm/bindings/python/CHANGELOG.md has 0.3.0\nrun: go -C wasm/release run . version set 0.4.0")
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

// No manifest makes the patterns fail, whatever it contains.
func FuzzManifest(f *testing.F) {
	for _, text := range kinds {
		f.Add(text, "9.9.9")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		if !versionForm.MatchString(version) {
			return
		}
		root := t.TempDir()
		for name, place := range places {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
			if !place.MatchString(text) {
				continue
			}
			m := manifest{name, place}
			require.NoError(t, m.write(root, version))
			got, err := m.read(root)
			require.NoError(t, err)
			require.Equal(t, []string{version}, got)
		}
	})
}
