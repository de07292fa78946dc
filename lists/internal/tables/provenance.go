package tables

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Origin says where one published list came from.
type Origin struct {
	Letter    string // its mark in sources/domains.txt
	Package   string // name@version
	Licence   string
	Read      string // day it was fetched, 2026-11-20
	Count     string // of its domains, before any rule
	Integrity string // of the tarball
	About     string
}

// ReadProvenance reads sources/provenance.txt.
func ReadProvenance(dir string) ([]Origin, error) {
	var origins []Origin
	err := eachLine(filepath.Join(dir, "sources", "provenance.txt"), func(line string) error {
		f := strings.SplitN(line, " ", 7)
		if len(f) != 7 {
			return fmt.Errorf("want letter, package, licence, day, count, integrity and a remark, got %q", line)
		}
		origins = append(origins, Origin{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
		return nil
	})
	return origins, err
}

// Newest is the last day any origin was read, in the form 2026.11.20.
func Newest(origins []Origin) string {
	newest := ""
	for _, o := range origins {
		newest = max(newest, o.Read)
	}
	return strings.ReplaceAll(newest, "-", ".")
}
