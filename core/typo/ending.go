package typo

import "bytes"

const (
	realEndingBudget  = 14 // the typed top-level domain is right
	falseEndingBudget = 22 // it does not exist
	costCutShort      = 6  // "gmail.c", "yahoo.co.i"
	costRepeat        = 8  // "yahoo.com.com"
	costTail          = 6  // "gmail.comse"
	costTailLetter    = 3  // each of it
)

// endingCost is what it costs to slip from the ending meant to the one typed.
func (x *Index) endingCost(typed, meant []byte) int {
	if isOmission(typed, meant) {
		return costCutShort
	}
	budget, top := falseEndingBudget, lastLabel(typed)
	if bytes.Equal(top, lastLabel(meant)) {
		budget = realEndingBudget
	} else if x.isTopLevel(top) {
		return farApart
	}
	cost := tailCost(typed, meant)
	if bytes.Count(typed, dot) <= bytes.Count(meant, dot) { // more would be a host of some other domain
		cost = min(cost, x.keys.edits(typed, meant, budget*3/2)*2/3)
	}
	if cost > budget {
		return farApart
	}
	return cost
}

// isSlip reports whether the top-level domain top may have been typed for the
// ending meant: it is the right one, an omission, or none.
func (x *Index) isSlip(top, meant []byte) bool {
	return bytes.Equal(top, lastLabel(meant)) || isOmission(top, meant) || !x.isTopLevel(top)
}

// isOmission reports whether typed is a country's top-level domain that is met
// as com or net with a letter left out far oftener than for itself.
func isOmission(typed, meant []byte) bool {
	switch string(meant) {
	case "com":
		return string(typed) == "co" || string(typed) == "cm" || string(typed) == "om"
	case "net":
		return string(typed) == "ne" || string(typed) == "et"
	}
	return false
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
