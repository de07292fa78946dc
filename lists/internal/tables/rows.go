package tables

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/idna"
)

// row is a line of a table of domains.
type row struct {
	name       string
	subdomains bool // written with a leading "*."
}

// readTable reads a table of domains. A line has a domain and, after white
// space, a note; "#" starts a comment. A domain that is listed twice is an
// error.
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
// lines and surrounding white space; tabs become spaces. It adds file and line
// to the error that do returns.
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

// Canonical returns domain in lower case and A-label form. It returns an error
// unless domain is a host name of at least two labels.
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
