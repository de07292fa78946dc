package tables

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ReadTargets reads typo-targets.txt and returns its domains in the same order,
// one per line.
func ReadTargets(dir string) ([]byte, error) {
	rows, err := readTable(dir, "typo-targets.txt")
	var targets []byte
	for _, r := range rows {
		targets = append(append(targets, r.name...), '\n')
	}
	return targets, err
}

// ReadTopLevels reads top-levels.txt and second-levels.txt and returns their
// domains in byte order, one per line. It returns an error unless each file is
// in that order.
func ReadTopLevels(dir string) ([]byte, error) {
	var all []string
	for _, file := range []string{"top-levels.txt", "second-levels.txt"} {
		last := ""
		err := eachLine(filepath.Join(dir, file), func(line string) error {
			if line <= last {
				return fmt.Errorf("%s comes after %s: want byte order", line, last)
			}
			last = line
			all = append(all, line)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	return []byte(strings.Join(all, "\n") + "\n"), nil
}
