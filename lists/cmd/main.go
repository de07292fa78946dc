// Command cmd makes the lists from their tables:
//
//	go run ./lists/cmd pack [--dir lists]
//	go run ./lists/cmd refresh [--dir lists] [--latest] [--observed DIR|URL] [--all]
//	go run ./lists/cmd publish --key lists.key [--blob lists/lists.blob] [--feed dist/feed] [--expires 30d]
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

func main() {
	var program struct {
		Pack    packer    `cmd:"" help:"Pack the tables into lists.blob. The same tables give the same bytes."`
		Refresh refresher `cmd:"" help:"Fetch the published lists into sources/, and print the changes."`
		Publish publisher `cmd:"" help:"Sign lists.blob and write a feed of newer lists."`
	}
	command := kong.Parse(&program, kong.Name("lists"))
	command.FatalIfErrorf(command.Run())
}

type packer struct {
	Dir string `default:"lists" help:"Directory of the tables."`
}

// Run writes lists.blob and prints whether that changes it.
func (p packer) Run() error {
	packed, err := p.pack()
	if err != nil {
		return err
	}
	path := filepath.Join(p.Dir, "lists.blob")
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

func (p packer) pack() ([]byte, error) {
	var failed error
	domains := read(&failed, p.Dir, tables.Merge)
	roles := read(&failed, p.Dir, tables.ReadRoles)
	targets := read(&failed, p.Dir, tables.ReadTargets)
	topLevels := read(&failed, p.Dir, tables.ReadTopLevels)
	checked := read(&failed, p.Dir, tables.ReadChecked)
	identities := read(&failed, p.Dir, tables.ReadIdentities)
	mailboxes := read(&failed, p.Dir, tables.ReadMailboxes)
	carriers := read(&failed, p.Dir, tables.ReadCarriers)
	exchanges := read(&failed, p.Dir, tables.ReadExchanges)
	if failed != nil {
		return nil, failed
	}
	c := blob.Content{
		Date:      strings.ReplaceAll(checked, "-", "."),
		Domains:   make(map[string]blob.Kind, len(domains)),
		Sources:   carriers.Sources,
		Roles:     roles,
		Targets:   targets,
		TopLevels: topLevels,
		Providers: identities.Providers,
		Rules:     identities.Rules,
		Exchanges: make(map[string]int, len(exchanges)),
		Mailboxes: mailboxes.Rules,
	}
	for name, e := range domains {
		c.Domains[name] = blob.Kind{Class: e.Class, Subdomains: e.Subdomains, Carriers: carriers.Of(name)}
	}
	for name, number := range mailboxes.Providers {
		k, found := c.Domains[name]
		if !found {
			return nil, fmt.Errorf("mailboxes.txt: %s has no class: add it to public.txt", name)
		}
		k.Mailboxes = uint8(number)
		c.Domains[name] = k
	}
	for _, row := range exchanges {
		operator := lists.Exchange{Class: row.Class, Provider: row.Provider}
		n := slices.Index(c.Operators, operator)
		if n < 0 {
			n, c.Operators = len(c.Operators), append(c.Operators, operator)
		}
		c.Exchanges[row.Suffix] = n + 1
	}
	return blob.Pack(c)
}

// read reads a table in dir, and adds its error to failed.
func read[T any](failed *error, dir string, table func(dir string) (T, error)) T {
	content, err := table(dir)
	*failed = errors.Join(*failed, err)
	return content
}
