package tables

import (
	"fmt"
	"path/filepath"
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

// ReadTopLevels reads top-levels.txt and returns its top-level domains, one per
// line. It returns an error unless they are in byte order.
func ReadTopLevels(dir string) ([]byte, error) {
	var topLevels []byte
	last := ""
	err := eachLine(filepath.Join(dir, "top-levels.txt"), func(line string) error {
		if line <= last {
			return fmt.Errorf("%s comes after %s: want byte order", line, last)
		}
		last = line
		topLevels = append(append(topLevels, line...), '\n')
		return nil
	})
	return topLevels, err
}
