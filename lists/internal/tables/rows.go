package tables

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/addrspec/addrspec/lists"
)

// row is a line of a table of domains.
type row struct {
	name       string
	subdomains bool // written with a leading "*."
}

// readTable reads a table of domains: a line has a domain and, after white space, a note.
func readTable(dir, file string) ([]row, error) {
	var rows []row
	seen := map[string]bool{}
	err := eachLine(filepath.Join(dir, file), func(line string) error {
		written, _, _ := strings.Cut(line, " ")
		bare, subdomains := strings.CutPrefix(written, "*.")
		name, err := Canonical(bare)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%s is listed twice", name)
		}
		seen[name] = true
		rows = append(rows, row{name, subdomains})
		return nil
	})
	return rows, err
}

// eachLine calls do with each line of a text file, without comments, blank
// lines and surrounding white space; tabs become spaces. Errors get file and line.
func eachLine(path string, do func(line string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(strings.ReplaceAll(line, "\t", " "))
		if line == "" {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: %w", filepath.Base(path), n, err)
		}
	}
	return lines.Err()
}

// Canonical returns domain, a host name of at least two labels, in lower case and A-label form.
func Canonical(domain string) (string, error) {
	name, err := idna.Lookup.ToASCII(strings.ToLower(domain))
	if err != nil {
		return "", fmt.Errorf("%q is not a domain: %w", domain, err)
	}
	if !strings.Contains(name, ".") || len(name) > 253 {
		return "", fmt.Errorf("%q is not a domain of at least two labels and at most 253 bytes", domain)
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return "", fmt.Errorf("%q is not a domain: bad label %q", domain, label)
		}
	}
	return name, nil
}

// ReadTargets returns the domains of typo-targets.txt in their order, one per line.
func ReadTargets(dir string) ([]byte, error) {
	rows, err := readTable(dir, "typo-targets.txt")
	var targets []byte
	for _, r := range rows {
		targets = append(append(targets, r.name...), '\n')
	}
	return targets, err
}

// ReadTopLevels returns the domains of top-levels.txt and second-levels.txt, one per line.
// They must be in byte order.
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

var wordMarks = map[string]lists.Word{"common": lists.Common, "alone": lists.Alone, "weak": lists.Weak, "ending": lists.Ending}

// ReadRoles reads roles.txt: a line has a class with its marks, such as
// IT/alone, and words of that class.
func ReadRoles(dir string) (map[string]lists.Word, error) {
	words := map[string]lists.Word{}
	err := eachLine(filepath.Join(dir, "roles.txt"), func(line string) error {
		fields := strings.Fields(line)
		name, marks, marked := strings.Cut(fields[0], "/")
		class := lists.RoleNamed(name)
		if class == lists.NoRole {
			return fmt.Errorf("%q is not a class of words; lists/role.go has them", name)
		}
		entry := lists.Word(class)
		for marked {
			var mark string
			mark, marks, marked = strings.Cut(marks, "/")
			m := wordMarks[mark]
			if m == 0 || lists.Word(class).Role() == lists.NoRole {
				return fmt.Errorf("%q is not a mark of %s words; roles.txt has them", mark, name)
			}
			entry |= m
		}
		for _, word := range fields[1:] {
			if words[word] != 0 {
				return fmt.Errorf("%s is listed twice", word)
			}
			if word != norm.NFC.String(strings.ToLower(word)) {
				return fmt.Errorf("%s is not in lower case and NFC", word)
			}
			words[word] = entry
		}
		return nil
	})
	return words, err
}
