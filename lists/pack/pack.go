package main

import (
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/blob"
	"github.com/addrspec/addrspec/lists/internal/source"
)

// pack reads the tables under dir and encodes them.
func pack(dir string) ([]byte, error) {
	domains, err := source.Merge(dir)
	if err != nil {
		return nil, err
	}
	words, err := source.ReadRoles(dir)
	if err != nil {
		return nil, err
	}
	targets, err := source.ReadTargets(dir)
	if err != nil {
		return nil, err
	}
	tops, err := source.ReadTopLevels(dir)
	if err != nil {
		return nil, err
	}
	origins, err := source.ReadProvenance(dir)
	if err != nil {
		return nil, err
	}
	content := blob.Content{Date: source.Newest(origins), Domains: map[string]byte{}, Words: words, Targets: targets, Tops: tops}
	for name, e := range domains {
		content.Domains[name] = value(e)
	}
	return blob.Pack(content)
}

func value(e source.Entry) byte {
	if e.Below {
		return byte(e.Class) | lists.Below
	}
	return byte(e.Class)
}
