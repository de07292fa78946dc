package tables

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Source is one published list: a row of sources/provenance.txt.
type Source struct {
	Letter    string // its mark in sources/domains.txt
	Package   string // name@version on npm
	Licence   string
	Fetched   string // the day it was first fetched, 2026-11-20
	Count     string // of its domains, before the merge rule
	Integrity string // of the tarball
	Remark    string
}

// ReadProvenance reads sources/provenance.txt.
func ReadProvenance(dir string) ([]Source, error) {
	var sources []Source
	err := eachLine(filepath.Join(dir, "sources", "provenance.txt"), func(line string) error {
		f := strings.SplitN(line, " ", 7)
		if len(f) != 7 {
			return fmt.Errorf("want letter, package, licence, day, count, integrity and a remark, got %q", line)
		}
		sources = append(sources, Source{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
		return nil
	})
	return sources, err
}

// Newest returns the last day any of sources was fetched, as 2026.11.20.
func Newest(sources []Source) string {
	newest := ""
	for _, s := range sources {
		newest = max(newest, s.Fetched)
	}
	return strings.ReplaceAll(newest, "-", ".")
}
