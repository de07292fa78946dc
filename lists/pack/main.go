// Command pack packs the tables in lists/ into lists.blob.
//
//	go run ./lists/pack [-dir lists]
//
// Names that no list has carried for 18 months are dropped, and listed in
// sources/dropped.txt. It needs no network. The same tables give the same bytes.
package main

import (
	"bytes"
	"errors"
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

// run writes lists.blob and sources/dropped.txt in dir and prints what that changes.
func run(dir string) error {
	domains, err := tables.Merge(dir)
	if err != nil {
		return err
	}
	packed, err := pack(dir, domains)
	if err != nil {
		return err
	}
	dropped, err := dropped(dir, domains)
	if err != nil {
		return err
	}
	return errors.Join(
		write(filepath.Join(dir, "lists.blob"), packed),
		write(filepath.Join(dir, "sources", "dropped.txt"), dropped))
}

// write writes a file, unless it has that content already, and prints which it was.
func write(path string, content []byte) error {
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if bytes.Equal(before, content) {
		fmt.Printf("%s: %d bytes, unchanged\n", path, len(content))
		return nil
	}
	fmt.Printf("%s: %d bytes, changed\n", path, len(content))
	return os.WriteFile(path, content, 0o644)
}

// dropped returns the text of sources/dropped.txt.
func dropped(dir string, domains tables.Map) ([]byte, error) {
	names, err := tables.Dropped(dir, domains)
	text := fmt.Sprintf("# Throw-away domains that no list has carried for 18 months, which the blob does not\n"+
		"# have any more: %d. Written by \"go run ./lists/pack\"; not edited by hand.\n", len(names))
	for _, name := range names {
		text += name + "\n"
	}
	return []byte(text), err
}

// pack returns the blob of the merged domains and of the other tables in dir.
func pack(dir string, domains tables.Map) ([]byte, error) {
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
	rows, err := tables.ReadExchanges(dir)
	if err != nil {
		return nil, err
	}
	exchanges, operators := tables.NumberOperators(rows)
	return blob.Pack(blob.Content{
		Date:      strings.ReplaceAll(checked, "-", "."),
		Domains:   kinds(domains, carriers),
		Sources:   carriers.Sources,
		Roles:     roles,
		Targets:   targets,
		TopLevels: topLevels,
		Providers: identities.Providers,
		Rules:     identities.Rules,
		Exchanges: exchanges,
		Operators: operators,
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
