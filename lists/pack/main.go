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
	"strings"

	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

func main() {
	dir := flag.String("dir", "lists", "directory of the tables")
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

// pack reads the tables in dir and returns the blob.
func pack(dir string) ([]byte, error) {
	domains, err := tables.Merge(dir)
	if err != nil {
		return nil, err
	}
	roles, err := tables.ReadRoles(dir)
	if err != nil {
		return nil, err
	}
	targets, err := tables.ReadTargets(dir)
	if err != nil {
		return nil, err
	}
	topLevels, err := tables.ReadTopLevels(dir)
	if err != nil {
		return nil, err
	}
	checked, err := tables.ReadChecked(dir)
	if err != nil {
		return nil, err
	}
	identities, err := tables.ReadIdentities(dir)
	if err != nil {
		return nil, err
	}
	carriers, err := tables.ReadCarriers(dir)
	if err != nil {
		return nil, err
	}
	return blob.Pack(blob.Content{
		Date:      strings.ReplaceAll(checked, "-", "."),
		Domains:   kinds(domains, carriers),
		Sources:   carriers.Sources,
		Roles:     roles,
		Targets:   targets,
		TopLevels: topLevels,
		Providers: identities.Providers,
		Rules:     identities.Rules,
	})
}

// kinds returns the entry of each domain in the blob.
func kinds(domains tables.Map, carriers *tables.Carriers) map[string]blob.Kind {
	kinds := make(map[string]blob.Kind, len(domains))
	for name, e := range domains {
		kinds[name] = blob.Kind{Class: e.Class, Subdomains: e.Subdomains, Carriers: carriers.Of(name)}
	}
	return kinds
}
