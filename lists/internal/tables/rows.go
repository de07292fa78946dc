package tables

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/idna"
)

// row is one line of a hand-written table: a domain, which a leading "*."
// extends to every name below it, and a note.
type row struct {
	name  string
	below bool
	note  string
}

// readTable reads a table of domains. Lines hold a domain and, after white
// space, a note; "#" starts a comment.
func readTable(dir, file string) ([]row, error) {
	var rows []row
	seen := map[string]bool{}
	err := eachLine(filepath.Join(dir, file), func(line string) error {
		written, note, _ := strings.Cut(line, " ")
		bare, below := strings.CutPrefix(written, "*.")
		name, err := Canonical(bare)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%s stands twice", name)
		}
		seen[name] = true
		rows = append(rows, row{name, below, strings.TrimSpace(note)})
		return nil
	})
	return rows, err
}

// eachLine calls do with each line of a text file, less comments and blanks.
// Errors name file and line.
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

// Canonical returns domain in lower case and A-label form, or says why it is
// not a host name of two labels or more.
func Canonical(domain string) (string, error) {
	name, err := idna.Lookup.ToASCII(strings.ToLower(domain))
	if err != nil {
		return "", fmt.Errorf("%q is not a domain: %w", domain, err)
	}
	if !strings.Contains(name, ".") || len(name) > 253 {
		return "", fmt.Errorf("%q is not a domain of two labels or more", domain)
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return "", fmt.Errorf("%q is not a domain: bad label %q", domain, label)
		}
	}
	return name, nil
}
