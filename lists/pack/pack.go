package main

import (
	"strings"

	"github.com/addrspec/addrspec/lists/internal/blob"
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

// kinds returns what the blob says about each domain.
func kinds(domains tables.Map, carriers *tables.Carriers) map[string]blob.Kind {
	kinds := make(map[string]blob.Kind, len(domains))
	for name, e := range domains {
		kinds[name] = blob.Kind{Class: e.Class, Subdomains: e.Subdomains, Carriers: carriers.Of(name)}
	}
	return kinds
}
