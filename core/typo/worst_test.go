package typo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorstSearch bounds the work for the domains that TestSearchWorst of package
// core found to take longest, before and after the search was bounded.
func TestWorstSearch(t *testing.T) {
	x := newIndex()
	for _, domain := range []string{
		"hotmail.con", "yahoo.0mmccomceo", "yahoo.com.ko", "yahoo0.coop.gj", "live.com.mmp",
		"maiil.coml2eu", "ma1ibok.ltntiu", "hotmail.le", "taeono.khi", "aolungw",
	} {
		best := suggestion{cost: farApart, next: farApart}
		name, ending, found := strings.Cut(domain, ".")
		if !found {
			name, ending = "", domain
		}
		x.search(&best, []byte(domain), []byte(name), []byte(ending), lastLabel([]byte(ending)))
		require.LessOrEqual(t, best.compared, 16, domain)
	}
}
