// Command refresh fetches the published domain lists from npm and PyPI, writes
// the domains that the merge rule can use to sources/, and prints what changed.
//
//	go run ./lists/refresh [-dir lists] [-latest] [-all]
//
// Without -latest it fetches the versions that sources/provenance.txt pins and
// must change nothing. With -latest it fetches the newest versions and records
// the day. It needs npm, and python3 with pip. After reading the report, correct
// what is wrong in the hand-written tables and pack the blob with
// `go run ./lists/pack`.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	latest := flag.Bool("latest", false, "fetch the newest versions instead of the pinned ones")
	all := flag.Bool("all", false, "print every name that moved instead of the first 20 of each group")
	flag.Parse()
	if err := run(*dir, *latest, *all); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}
