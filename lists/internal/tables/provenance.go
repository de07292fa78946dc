package tables

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Source is one published list: a row of sources/provenance.txt.
type Source struct {
	Letter    string // its mark in sources/domains.txt
	Registry  string // npm or pypi
	Package   string // name@version
	Licence   string
	Fetched   string // the day this version was first fetched, 2026-11-20
	Count     string // of its domains, before the merge rule
	Integrity string // of the package's archive, as the registry publishes it
	Remark    string
}

// ReadProvenance reads the published lists in sources/provenance.txt.
func ReadProvenance(dir string) ([]Source, error) {
	sources, _, err := readProvenance(dir)
	return sources, err
}

// ReadChecked returns the day on which the registries were last asked for new
// versions, as 2026-11-20: the age of the lists counts from it, even if nothing
// had changed.
func ReadChecked(dir string) (string, error) {
	_, checked, err := readProvenance(dir)
	if err == nil && checked == "" {
		err = fmt.Errorf("provenance.txt has no line \"checked DAY\": run `go run ./lists/refresh -latest`")
	}
	return checked, err
}

func readProvenance(dir string) (sources []Source, checked string, err error) {
	err = eachLine(filepath.Join(dir, "sources", "provenance.txt"), func(line string) error {
		if day, found := strings.CutPrefix(line, "checked "); found {
			checked = day
			_, err := time.Parse(time.DateOnly, day)
			return err
		}
		f := strings.SplitN(line, " ", 7)
		if len(f) != 7 {
			return fmt.Errorf("want letter, package, licence, day, count, integrity and a remark, got %q", line)
		}
		registry, name, found := strings.Cut(f[1], ":")
		if !found {
			return fmt.Errorf("want registry:package@version, got %q", f[1])
		}
		sources = append(sources, Source{f[0], registry, name, f[2], f[3], f[4], f[5], f[6]})
		return nil
	})
	return sources, checked, err
}
