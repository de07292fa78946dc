// Command pack makes lists.blob of the readable tables in lists/.
//
//	go run ./lists/pack [-dir lists]
//
// It needs no network, and the same tables give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	packed, err := pack(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "lists.blob")
	fmt.Printf("%s: %d bytes\n", path, len(packed))
	return os.WriteFile(path, packed, 0o644)
}
