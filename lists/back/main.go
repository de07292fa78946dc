// Command back measures how many throw-away domains the lists know before the
// proof-backed list (D) names them, by going back in time:
//
//	go run ./lists/back [-dir lists] [-cache DIR]
//
// For each of several days it merges the versions of the published lists that
// were known on that day, and looks up the domains that D gained in the 7, 30
// and 60 days after. The days are 60 days apart, so no domain counts twice.
// history.txt pins the versions.
//
// The hand-written tables are today's, but for disposable.txt, which is left
// out: its rows were written with later knowledge. The others can only lower
// the figures.
//
//	go run ./lists/back -exchanges DIR
//
// measures instead what the exchanges of domains reveal. DIR has domains with their
// exchanges: real.tsv, burners-DAY.tsv, mx-counts-DAY.tsv and castle-first-seen.json.
//
//	go run ./lists/back -pin
//
// asks the registries and rewrites history.txt. It needs npm, and python3 with
// pip. Fetched lists are kept in the cache directory.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry"
)

func main() {
	dir := flag.String("dir", "lists", "directory of the tables")
	cache := flag.String("cache", defaultCache(), "directory that keeps fetched lists")
	pinning := flag.Bool("pin", false, "rewrite history.txt from the registries instead of measuring")
	exchanges := flag.String("exchanges", "", "measure what the exchanges of the domains in this directory reveal")
	flag.Parse()
	if err := run(*dir, *cache, *exchanges, *pinning); err != nil {
		fmt.Fprintln(os.Stderr, "back:", err)
		os.Exit(1)
	}
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "addrspec", "lists-back")
}

func run(dir, cache, exchanges string, pinning bool) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "back", "history.txt")
	if pinning {
		return pin(path, store(cache))
	}
	h, err := readHistory(path)
	if err != nil {
		return err
	}
	if exchanges != "" {
		return measureExchanges(os.Stdout, dir, exchanges, h, store(cache))
	}
	observed, err := tables.ReadObserved(dir)
	if err != nil {
		return err
	}
	byHand, err := withoutHindsight(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(byHand)
	rows, err := measure(byHand, observed, h, store(cache))
	if err != nil {
		return err
	}
	printRows(os.Stdout, rows)
	return nil
}

const (
	lastDay  = "2026-09-07" // 60 days before the newest version of D in history.txt
	interval = 60           // days between two measurements
	count    = 11           // of measurements: before lastDay-600 npm's times say nothing
)

// horizons are the days after a measurement in which D gains domains.
var horizons = []int{7, 30, 60}

// days returns the days of measurement in their order.
func days() (all []string) {
	for i := count - 1; i >= 0; i-- {
		all = append(all, after(lastDay, -i*interval))
	}
	return all
}

// after returns the day n days after day.
func after(day string, n int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err) // days are constants or were checked by readHistory
	}
	return t.AddDate(0, 0, n).Format(time.DateOnly)
}

// store is a directory with the names of fetched lists.
type store string

// item is a list that the store fetches.
type item struct {
	registry        *registry.Registry
	spec, integrity string
	read            func(*registry.Package) ([]string, error)
}

// names returns the domains of a list, from the directory if they are there.
func (s store) names(i item) ([]string, error) {
	if kept, err := os.ReadFile(s.path(i)); err == nil {
		return strings.Fields(string(kept)), nil
	}
	p, err := i.registry.Fetch(i.spec)
	if err != nil {
		return nil, err
	}
	if p.Integrity != i.integrity {
		return nil, fmt.Errorf("%s: integrity is %s, pinned is %s", i.spec, p.Integrity, i.integrity)
	}
	return s.keep(i, p)
}

// keep reads the domains of a fetched package and stores them.
func (s store) keep(i item, p *registry.Package) ([]string, error) {
	names, err := i.read(p)
	if err != nil {
		return nil, err
	}
	path := s.path(i)
	if err := os.WriteFile(path+".new", []byte(strings.Join(names, "\n")), 0o644); err != nil {
		return nil, err
	}
	return names, os.Rename(path+".new", path)
}

// path has the integrity in it, so that a file is never taken for another.
func (s store) path(i item) string {
	safe := strings.NewReplacer("/", "_", "+", "-", ":", "-").Replace(i.spec + "-" + i.integrity)
	return filepath.Join(string(s), safe+".txt")
}
