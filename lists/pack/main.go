// Command pack packs the tables in lists/ into lists.blob.
//
//	go run ./lists/pack [-dir lists]
//
// It needs no network. The same tables give the same bytes.
package main

import (
	"bytes"
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

// run writes lists.blob in dir and prints whether that changes it.
func run(dir string) error {
	packed, err := pack(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "lists.blob")
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if bytes.Equal(before, packed) {
		fmt.Printf("%s: %d bytes, unchanged\n", path, len(packed))
		return nil
	}
	fmt.Printf("%s: %d bytes, changed\n", path, len(packed))
	return os.WriteFile(path, packed, 0o644)
}
