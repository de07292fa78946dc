package main

import (
	"strings"

	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/format"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

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
	return blob.Pack(blob.Content{
		Date:      strings.ReplaceAll(checked, "-", "."),
		Domains:   values(domains),
		Roles:     roles,
		Targets:   targets,
		TopLevels: topLevels,
	})
}

// values returns the value in the blob for each domain.
func values(domains tables.Map) map[string]byte {
	values := make(map[string]byte, len(domains))
	for name, e := range domains {
		values[name] = byte(e.Class)
		if e.Subdomains {
			values[name] |= format.Subdomains
		}
	}
	return values
}
