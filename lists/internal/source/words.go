package source

import (
	"fmt"
	"path/filepath"
	"strings"
)

// categories number the role categories in the order of core.Role.
var categories = map[string]byte{
	"Admin": 1, "Support": 2, "Sales": 3, "Marketing": 4, "General": 5,
	"NoReply": 6, "Billing": 7, "Legal": 8, "IT": 9, "HR": 10,
}

// ReadRoles reads roles.txt: a word and its category a line.
func ReadRoles(dir string) (map[string]byte, error) {
	words := map[string]byte{}
	err := eachLine(filepath.Join(dir, "roles.txt"), func(line string) error {
		word, category, _ := strings.Cut(line, " ")
		number := categories[strings.TrimSpace(category)]
		if number == 0 {
			return fmt.Errorf("%s: %q is not one of the ten categories", word, category)
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
