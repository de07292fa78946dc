package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists/registry"
)

// store is a folder with the names of fetched lists.
type store string

// item is a list that the store fetches.
type item struct {
	registry        *registry.Registry
	spec, integrity string
	read            func(*registry.Package) ([]string, error)
}

// names returns the domains of a list, from the folder if they are there.
func (s store) names(i item) ([]string, error) {
	if kept, err := os.ReadFile(s.path(i)); err == nil {
		return strings.Fields(string(kept)), nil
	}
	p, err := i.registry.Fetch(i.spec)
	if err != nil {
		return nil, err
	}
	if p.Integrity != i.integrity {
		return nil, fmt.Errorf("%s: integrity is %s, pinned is %s", i.spec, p.Integrity, i.integrity)
	}
	return s.keep(i, p)
}

// keep reads the domains of a fetched package and stores them.
func (s store) keep(i item, p *registry.Package) ([]string, error) {
	names, err := i.read(p)
	if err != nil {
		return nil, err
	}
	path := s.path(i)
	if err := os.WriteFile(path+".new", []byte(strings.Join(names, "\n")), 0o644); err != nil {
		return nil, err
	}
	return names, os.Rename(path+".new", path)
}

// path has the integrity in it, so that a file is never taken for another.
func (s store) path(i item) string {
	safe := strings.NewReplacer("/", "_", "+", "-", ":", "-").Replace(i.spec + "-" + i.integrity)
	return filepath.Join(string(s), safe+".txt")
}
