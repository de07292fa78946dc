package tables

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// ReadRoles reads roles.txt: a line has a class with its marks, such as
// IT/alone, and words of that class.
func ReadRoles(dir string) (map[string]lists.Word, error) {
	words := map[string]lists.Word{}
	err := eachLine(filepath.Join(dir, "roles.txt"), func(line string) error {
		fields := strings.Fields(line)
		class, err := parseClass(fields[0])
		if err != nil {
			return err
		}
		for _, word := range fields[1:] {
			if words[word] != 0 {
				return fmt.Errorf("%s is listed twice", word)
			}
			words[word] = class
		}
		return nil
	})
	return words, err
}

// parseClass reads a class with its marks.
func parseClass(text string) (lists.Word, error) {
	name, marks, _ := strings.Cut(text, "/")
	class := lists.RoleNamed(name)
	if class == lists.NoRole {
		return 0, fmt.Errorf("%q is not a class of words; lists/role.go has them", name)
	}
	word := lists.Word(class)
	for marks != "" {
		var mark string
		mark, marks, _ = strings.Cut(marks, "/")
		m := lists.MarkNamed(mark)
		if m == 0 || lists.Word(class).Role() == lists.NoRole {
			return 0, fmt.Errorf("%q is not a mark of %s words; lists/role.go has them", mark, name)
		}
		word |= m
	}
	return word, nil
}
