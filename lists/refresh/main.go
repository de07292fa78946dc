// Command refresh fetches the published domain lists from npm, rewrites
// sources/ with what the merge rule can use of them, and reports what changed.
//
//	go run ./lists/refresh [-dir lists] [-latest] [-all]
//
// Without -latest it fetches the versions that sources/provenance.txt pins,
// which must give the same tables. A person reads the report, settles what is
// wrong in the hand-kept tables, and makes the blob with `go run ./lists/pack`.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	latest := flag.Bool("latest", false, "take the newest versions instead of the pinned ones")
	all := flag.Bool("all", false, "show every name that moved, not the first of each group")
	flag.Parse()
	if err := run(*dir, *latest, *all); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}
