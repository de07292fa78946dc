// Command near finds real domains that the typo check would correct, and
// rewrites near.txt, which keeps the check from doing so. It also rewrites
// second-levels.txt, the endings under which registries take names.
//
//	go run ./core/typo/near [-dir lists]
//
// It runs the check, without any list, on the domains in published lists of web
// sites and universities, and on dictionary words under the endings of the typo
// targets. It reads the typo targets and top-level domains from
// lists.blob, into which near.txt is then packed: `./build.sh lists` runs the
// packer, near and the packer again until neither file changes. Run that when
// the check, the targets or the top-level domains have changed, and review the
// difference: a misspelling that is in a list of web sites belongs in slips.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
)

func main() {
	dir := flag.String("dir", "lists", "directory of the tables and of lists.blob")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "near:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	c, err := openChecker(dir)
	if err != nil {
		return err
	}
	if err := writeRegistries(dir, c.endings); err != nil {
		return err
	}
	header, found := tableHeader, map[string]bool{}
	for _, s := range sources {
		domains, line, err := s.read(c.endings)
		if err != nil {
			return err
		}
		header += line
		for _, domain := range domains {
			if c.wouldCorrect(domain) {
				found[domain] = true
			}
		}
	}
	return rewrite(filepath.Join(dir, "near.txt"), header, found)
}

// checker is the typo check without any list.
type checker struct {
	index   *typo.Index
	endings []string // of the typo targets: their domains without the first label
}

// openChecker reads the targets from lists.blob in dir. Unlike the lists
// embedded in the program, that blob has been packed from the tables in dir.
func openChecker(dir string) (checker, error) {
	blob, err := os.ReadFile(filepath.Join(dir, "lists.blob"))
	if err != nil {
		return checker{}, fmt.Errorf("%w; go run ./lists/cmd pack writes it", err)
	}
	packed, err := lists.Open(blob)
	if err != nil {
		return checker{}, err
	}
	c := checker{index: typo.New(packed.TypoTargets(), packed.TopLevels())}
	for line := range strings.Lines(string(packed.TypoTargets())) {
		_, ending, _ := strings.Cut(strings.TrimSpace(line), ".")
		c.endings = append(c.endings, ending)
	}
	slices.Sort(c.endings)
	c.endings = slices.Compact(c.endings)
	return c, nil
}

// slips are names in the sources that are misspellings nevertheless: dictionaries have
// plurals of everything.
var slips = []string{"yahoos.", "outlooks."}

// wouldCorrect reports whether the check corrects domain and near.txt should
// prevent that. It returns false for slips and for public suffixes, which never
// become entries.
func (c checker) wouldCorrect(domain string) bool {
	isSlip := slices.ContainsFunc(slips, func(slip string) bool { return strings.HasPrefix(domain, slip) })
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return c.index.Suggest([]byte(domain)) != nil && !isSlip && suffix != domain
}

const tableHeader = `# Real domains and words that the typo check would correct without this table.
# Written by "./build.sh lists"; not edited by hand. From npm, fetched 2026-11-20:
`

func rewrite(path, header string, found map[string]bool) error {
	fmt.Printf("%s: %d names\n", path, len(found))
	text := header
	for _, name := range slices.Sorted(maps.Keys(found)) {
		text += name + "\n"
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
