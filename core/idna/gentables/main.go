// Command gentables generates the tables of characters of core/idna and core/typo from unicode.json.gz, on which alone
// they depend, so any version of Go generates the same:
//
//	go generate ./core/idna
//
// For a newer Unicode it first writes the snapshot again, and what the tests expect (gather.go).
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log"
	"os"
	"slices"
	"sort"
)

// snapshot is the data of unicode.json.gz, with Unicode's names.
type snapshot struct {
	Version        string
	Sources        []source
	Properties     runs[properties] // of the assigned characters
	Lower, Upper   map[rune]rune    // simple case mappings
	Decompositions map[rune][]rune  // one step, without Hangul
	Excluded       []rune           // from composition
	Mappings       runs[mapping]
	Confusables    map[string]string // those that look like letters or digits of ASCII, perhaps among others
}

// runs are runs of characters with the same value, in order.
type runs[T any] []struct {
	First, Last rune
	Value       T
}

func (all runs[T]) at(r rune) (value T) {
	i := sort.Search(len(all), func(i int) bool { return all[i].Last >= r })
	if i < len(all) && all[i].First <= r {
		return all[i].Value
	}
	return value
}

type properties struct {
	Category, Bidi, Joining, Script string
	Class                           uint32 // canonical combining class
	Unstable                        bool   // RFC 5892 section 2.2, or ignored by NFKC_Casefold
}

// mapping is by UTS #46, with the numbers of npm tr46 for the statuses: 1 mapped, 2 valid, 3 disallowed, 6 deviation, 7
// ignored.
type mapping struct {
	Status int
	To     string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gentables: ")
	if len(os.Args) > 1 {
		gather("gentables/unicode.json.gz", "../internal/idnatest/expect.json.gz")
	}
	d := read("gentables/unicode.json.gz")
	for file, content := range map[string][]byte{"tables.bin": d.tables(), "../typo/looks.bin": d.looks()} {
		if err := os.WriteFile(file, content, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// data is the snapshot and the pairs of characters that compose.
type data struct {
	snapshot
	composed map[[2]rune]rune
	seconds  map[rune]bool // of composed
}

func read(path string) *data {
	packed, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		log.Fatal(path, ": ", err)
	}
	d := &data{composed: map[[2]rune]rune{}, seconds: map[rune]bool{}}
	if err := json.NewDecoder(z).Decode(&d.snapshot); err != nil {
		log.Fatal(path, ": ", err)
	}
	for r, to := range d.Decompositions {
		if !slices.Contains(d.Excluded, r) {
			d.composed[[2]rune(to)], d.seconds[to[1]] = r, true
		}
	}
	return d
}
