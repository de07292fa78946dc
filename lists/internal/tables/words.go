package tables

import (
	"fmt"
	"path/filepath"
	"strings"
)

// categories number the role categories in the order of core.Role; a Qualifier
// is no role but may stand beside one.
var categories = map[string]byte{
	"Admin": 1, "Support": 2, "Sales": 3, "Marketing": 4, "General": 5,
	"NoReply": 6, "Billing": 7, "Legal": 8, "IT": 9, "HR": 10,
	"Qualifier": 11,
}

// ReadRoles reads roles.txt: a word and its category a line.
func ReadRoles(dir string) (map[string]byte, error) {
	words := map[string]byte{}
	err := eachLine(filepath.Join(dir, "roles.txt"), func(line string) error {
		word, category, _ := strings.Cut(line, " ")
		number := categories[strings.TrimSpace(category)]
		if number == 0 {
			return fmt.Errorf("%s: %q is not one of the ten categories, nor Qualifier", word, category)
		}
		if words[word] != 0 {
			return fmt.Errorf("%s stands twice", word)
		}
		words[word] = number
		return nil
	})
	return words, err
}

// ReadTargets reads typo-targets.txt, keeping its order.
func ReadTargets(dir string) ([]byte, error) {
	rows, err := readTable(dir, "typo-targets.txt")
	var targets []byte
	for _, r := range rows {
		targets = append(append(targets, r.name...), '\n')
	}
	return targets, err
}

// ReadTopLevels reads top-levels.txt: the top-level domains in byte order.
func ReadTopLevels(dir string) ([]byte, error) {
	var tops []byte
	last := ""
	err := eachLine(filepath.Join(dir, "top-levels.txt"), func(line string) error {
		if line <= last {
			return fmt.Errorf("%s stands after %s", line, last)
		}
		last = line
		tops = append(append(tops, line...), '\n')
		return nil
	})
	return tops, err
}
