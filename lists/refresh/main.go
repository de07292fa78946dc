// Command refresh fetches the published domain lists from npm and rewrites
// sources/ with what the merge rule can use of them.
//
//	go run ./lists/refresh [-dir lists] [-latest] [-only NAME]
//
// Without -latest it fetches the versions that sources/provenance.txt pins,
// which must give the same tables. It then prints what changed, class by
// class, for a person to review; `go run ./lists/pack` makes the blob.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	latest := flag.Bool("latest", false, "take the newest versions instead of the pinned ones")
	flag.Parse()
	if err := run(*dir, *latest); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}
