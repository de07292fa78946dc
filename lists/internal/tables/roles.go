package tables

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// ReadRoles reads roles.txt: one word and the name of its role per line.
func ReadRoles(dir string) (map[string]lists.Role, error) {
	words := map[string]lists.Role{}
	err := eachLine(filepath.Join(dir, "roles.txt"), func(line string) error {
		word, name, _ := strings.Cut(line, " ")
		role := lists.RoleNamed(strings.TrimSpace(name))
		if role == lists.NoRole {
			return fmt.Errorf("%s: %q is not one of the ten roles, nor Qualifier", word, name)
		}
		if words[word] != lists.NoRole {
			return fmt.Errorf("%s is listed twice", word)
		}
		words[word] = role
		return nil
	})
	return words, err
}
