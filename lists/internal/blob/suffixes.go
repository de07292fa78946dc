package blob

import (
	"sort"
	"strings"
)

// chooseEndings returns up to 256 endings, each beginning with a dot, that
// save the most letters, the empty one first. It looks past the first two
// characters, which the shelf stands for.
func chooseEndings(names map[string]byte) []string {
	count := map[string]int{}
	for name := range names {
		for rest := name[2:]; rest != ""; rest = rest[1:] {
			if rest[0] == '.' && len(rest) <= 63 {
				count[rest]++
			}
		}
	}
	candidates := make([]string, 0, len(count))
	for ending := range count {
		candidates = append(candidates, ending)
	}
	saves := func(ending string) int { return (len(ending) - inner(ending, count)) * count[ending] }
	sort.Slice(candidates, func(i, j int) bool {
		a, b := candidates[i], candidates[j]
		if saves(a) != saves(b) {
			return saves(a) > saves(b)
		}
		return a < b
	})
	return append([]string{""}, candidates[:min(255, len(candidates))]...)
}

// inner is the length of the ending that would stand in for ending anyway:
// its last label, where that is common.
func inner(ending string, count map[string]int) int {
	last := ending[strings.LastIndexByte(ending, '.'):]
	if last == ending || count[last] < 20 {
		return 0
	}
	return len(last)
}
