package main

import (
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// pack reads the tables under dir and encodes them.
func pack(dir string) ([]byte, error) {
	domains, err := tables.Merge(dir)
	if err != nil {
		return nil, err
	}
	words, err := tables.ReadRoles(dir)
	if err != nil {
		return nil, err
	}
	targets, err := tables.ReadTargets(dir)
	if err != nil {
		return nil, err
	}
	tops, err := tables.ReadTopLevels(dir)
	if err != nil {
		return nil, err
	}
	origins, err := tables.ReadProvenance(dir)
	if err != nil {
		return nil, err
	}
	content := blob.Content{Date: tables.Newest(origins), Domains: map[string]byte{}, Words: words, Targets: targets, Tops: tops}
	for name, e := range domains {
		content.Domains[name] = value(e)
	}
	return blob.Pack(content)
}

func value(e tables.Entry) byte {
	if e.Below {
		return byte(e.Class) | lists.Below
	}
	return byte(e.Class)
}
