package typo

import "bytes"

const (
	realEndingBudget  = 14 // the typed top-level domain is the one meant
	falseEndingBudget = 22 // it does not exist
	costCutShort      = 6  // "gmail.c", "yahoo.co.i"
	costRepeat        = 8  // "yahoo.com.com"
	costTail          = 6  // "gmail.comse"
	costTailLetter    = 3  // each of it
)

// endingCost is what it costs to slip from the ending meant, whose top-level
// domain is among d.meant, to the one typed.
func (x *Index) endingCost(d *typedDomain, meant []byte) int {
	budget := falseEndingBudget
	switch {
	case bytes.Equal(d.top, lastLabel(meant)):
		budget = realEndingBudget
	case isOmission(d.ending, meant):
		return costCutShort
	case d.meant != allTops: // a real ending
		return farApart
	}
	cost := tailCost(d.ending, meant)
	if bytes.Count(d.ending, dot) <= bytes.Count(meant, dot) { // more would be a host of some other domain
		cost = min(cost, x.keys.edits(d.ending, meant, budget*3/2)*2/3)
	}
	if cost > budget {
		return farApart
	}
	return cost
}

// tailCost is what an ending cut short or run on costs.
func tailCost(typed, meant []byte) int {
	if len(typed) > 0 && bytes.HasPrefix(meant, typed) {
		return costCutShort
	}
	tail, found := bytes.CutPrefix(typed, meant)
	switch {
	case !found:
		return farApart
	case tail[0] == '.' && bytes.Equal(tail[1:], lastLabel(meant)):
		return costRepeat
	case bytes.IndexByte(tail, '.') >= 0:
		return farApart
	}
	return costTail + len(tail)*costTailLetter
}

func lastLabel(domain []byte) []byte { return domain[bytes.LastIndexByte(domain, '.')+1:] }
