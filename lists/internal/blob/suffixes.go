package blob

import (
	"sort"
	"strings"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// chooseSuffixes returns the suffixes for a table of names: the empty one, then
// those beginning with a dot that save the most bytes. It ignores the first two
// characters of a name, which its bucket implies.
func chooseSuffixes(names []string) []string {
	count := countSuffixes(names)
	candidates := make([]string, 0, len(count))
	for suffix := range count {
		candidates = append(candidates, suffix)
	}
	saved := func(suffix string) int { return (len(suffix) - savedByLastLabel(suffix, count)) * count[suffix] }
	sort.Slice(candidates, func(i, j int) bool {
		a, b := candidates[i], candidates[j]
		if saved(a) != saved(b) {
			return saved(a) > saved(b)
		}
		return a < b
	})
	return append([]string{""}, candidates[:min(format.MaxSuffixes-1, len(candidates))]...)
}

// countSuffixes counts the names that end with each possible suffix.
func countSuffixes(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		for rest := name[format.BucketBytes:]; rest != ""; rest = rest[1:] {
			if rest[0] == '.' && len(rest) <= format.MaxSuffix {
				count[rest]++
			}
		}
	}
	return count
}

// savedByLastLabel returns how many bytes of suffix its last label would save
// without it, if that label is frequent enough to be a suffix too.
func savedByLastLabel(suffix string, count map[string]int) int {
	last := suffix[strings.LastIndexByte(suffix, '.'):]
	if last == suffix || count[last] < 20 {
		return 0
	}
	return len(last)
}
