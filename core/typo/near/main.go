// Command near finds real domains that the typo check would take for a
// misspelling, and rewrites near.txt with them.
//
//	go run ./core/typo/near [-dir lists]
//
// It asks the check, without any list, about domains that published lists of
// web sites and universities name, and about dictionary words under the
// endings of the typo targets. What it would correct goes to near.txt, which
// the packer reads. Run it when the check has changed, or once new targets or
// top-level domains are packed (go run ./lists/pack), then pack again and
// review the difference: a misspelling that a list of sites carries along
// belongs in the table of slips below.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "near:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	packed := lists.Default()
	check := typo.New(packed.TypoTargets(), packed.TopLevels())
	endings := endingsOf(packed.TypoTargets())
	found, head := map[string]bool{}, header
	for _, o := range origins {
		names, line, err := o.read(endings)
		if err != nil {
			return err
		}
		head += line
		for _, name := range names {
			if check.Suggest([]byte(name)) != nil && !isSlip(name) && !isSuffix(name) {
				found[name] = true
			}
		}
	}
	return write(filepath.Join(dir, "near.txt"), head, found)
}

const header = `# Real domains and words that the typo check would take for a misspelling.
# Written by "go run ./core/typo/near"; not edited by hand. From npm, read 2026-11-20:
`

func write(path, head string, found map[string]bool) error {
	lines := make([]string, 0, len(found))
	for name := range found {
		lines = append(lines, name+"\n")
	}
	slices.Sort(lines)
	fmt.Printf("%s: %d names\n", path, len(lines))
	return os.WriteFile(path, []byte(head+strings.Join(lines, "")), 0o644)
}

// endingsOf returns what stands after the first label of the targets.
func endingsOf(targets []byte) (endings []string) {
	for line := range strings.Lines(string(targets)) {
		_, ending, _ := strings.Cut(strings.TrimSpace(line), ".")
		endings = append(endings, ending)
	}
	slices.Sort(endings)
	return slices.Compact(endings)
}

// slips are names that the origins hold and that are misspellings all the
// same: dictionaries know a plural of everything.
var slips = []string{"yahoos.", "outlooks."}

func isSlip(name string) bool {
	return slices.ContainsFunc(slips, func(slip string) bool { return strings.HasPrefix(name, slip) })
}
