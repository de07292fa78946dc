package typo

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorstSearch bounds the number of names compared letter by letter for the
// domains that TestSearchWorst of package core found to take longest, before and
// after the search was bounded. Without the filter by letters it is nearly 300.
func TestWorstSearch(t *testing.T) {
	x := newIndex()
	for _, domain := range []string{
		"hotmail.con", "yahoo.0mmccomceo", "yahoo.com.ko", "yahoo0.coop.gj", "live.com.mmp",
		"maiil.coml2eu", "ma1ibok.ltntiu", "hotmail.le", "taeono.khi",
	} {
		name, ending, _ := bytes.Cut([]byte(domain), dot)
		d := typedDomain{text: []byte(domain), name: name, ending: ending, tld: lastLabel(ending)}
		if !x.classify(&d) {
			continue
		}
		budget, compared := budgetOf(nameBudget[:], len(name)), 0
		list := x.candidatesFor(&d, maxLengthDifference)
		for i := range list {
			if d.mayMean(&list[i], budget/costAdjacent, budget) {
				compared++
			}
		}
		require.LessOrEqual(t, compared, 40, domain)
	}
}
