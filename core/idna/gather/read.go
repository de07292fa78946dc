package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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

func inOrder[T any](all map[rune]T) []rune {
	rs := make([]rune, 0, len(all))
	for r := range all {
		rs = append(rs, r)
	}
	slices.Sort(rs)
	return rs
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
