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
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "lists", "folder of the tables and of lists.blob")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "near:", err)
		os.Exit(1)
	}
}

// run rewrites second-levels.txt and near.txt in dir and prints what that changes.
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
