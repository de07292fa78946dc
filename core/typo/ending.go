package typo

import "bytes"

const (
	realEndingBudget  = 14 // if the typed TLD is the one meant
	falseEndingBudget = 22 // if the typed TLD does not exist
	costCutShort      = 6  // "gmail.c", "yahoo.co.i"
	costRepeat        = 8  // "yahoo.com.com"
	costTail          = 6  // "gmail.comse"
	costTailLetter    = 3  // for each letter of it
)

// endingCost returns the cost of typing the ending of d for meant, whose TLD is
// in d.meant. It returns farApart if the cost is over budget or the typed
// ending is another real one.
func (x *Index) endingCost(d *typedDomain, meant []byte) int {
	budget := falseEndingBudget
	switch {
	case bytes.Equal(d.tld, lastLabel(meant)):
		budget = realEndingBudget
	case isOmission(d.ending, meant):
		return costCutShort
	case d.meant != allTLDs: // the typed TLD exists
		return farApart
	}
	cost := tailCost(d.ending, meant)
	if bytes.Count(d.ending, dot) <= bytes.Count(meant, dot) { // with more labels it is a host of another domain
		cost = min(cost, x.confusion.edits(d.ending, meant, budget*3/2)*2/3)
	}
	if cost > budget {
		return farApart
	}
	return cost
}

// tailCost returns the cost of cutting meant short, repeating its TLD, or
// typing letters after it.
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
