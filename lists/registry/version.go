package registry

import (
	"slices"
	"strconv"
	"strings"
)

// inOrder returns the releases whose versions are numbers, in their order.
func inOrder(all []Release) []Release {
	var numbered []Release
	for _, r := range all {
		if numbers(r.Version) != nil {
			numbered = append(numbered, r)
		}
	}
	slices.SortFunc(numbered, func(a, b Release) int {
		return slices.Compare(numbers(a.Version), numbers(b.Version))
	})
	return numbered
}

// numbers returns the numbers of a version such as 1.12.6, or nil for another
// form.
func numbers(version string) (numbers []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil
		}
		numbers = append(numbers, int(n))
	}
	return numbers
}
