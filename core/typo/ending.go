package typo

import "bytes"

const (
	realEndingBudget  = 14 // if the typed TLD is the one meant
	falseEndingBudget = 16 // if the typed TLD does not exist
	exactNameBudget   = 22 // if the name has no slip, besides
	costCutShort      = 6  // "gmail.c", "yahoo.co.i"
	costRepeat        = 8  // "yahoo.com.com"
	costTail          = 6  // "gmail.comse"
	costTailLetter    = 3  // for each letter of it
)

// endingCost returns the cost of typing the ending of d for that of t, whose
// TLD is in d.meant. It returns farApart if the cost is over budget or limit, or
// the typed ending is another real one. exact is set if the name has no slip.
func (x *Index) endingCost(d *typedDomain, t *target, exact bool, limit int) int {
	budget, meant := realEndingBudget, x.ending(t)
	switch {
	case d.meant == allTLDs: // the typed TLD does not exist
		if budget = d.falseEndingBudget(exact); !d.sharesLetterOfEnding(t) {
			return farApart
		}
	case d.omitted != 0 && d.omitted == pack(meant):
		return costCutShort
	case x.isRegistered(d) || !bytes.Equal(d.tld, lastLabel(meant)):
		return farApart
	}
	budget = min(budget, limit)
	cost := min(tailCost(d.ending, meant), x.endingSlips(d, t, budget))
	if cost > budget {
		return farApart
	}
	return cost
}

// endingSlips returns the cost of single slips that lead from the ending of t to
// that of d. They are cheaper than in a name: few endings are in use.
func (x *Index) endingSlips(d *typedDomain, t *target, budget int) int {
	meant := x.ending(t)
	if bytes.Count(d.ending, dot) > bytes.Count(meant, dot) { // a host of another domain
		return farApart
	}
	if forSlips := budget * 3 / 2; leastCost(d.endingLetters(), t.letters) <= forSlips {
		return x.confusion.edits(d.ending, meant, forSlips) * 2 / 3
	}
	return farApart
}

// isRegistered reports whether registries take names under the ending of d, so
// that it is none for another one: co.jp is the companies' namespace, ne.jp that
// of providers.
func (x *Index) isRegistered(d *typedDomain) bool {
	if d.registered == unknown {
		d.registered = no
		if x.root.contains(d.ending) {
			d.registered = yes
		}
	}
	return d.registered == yes
}

// falseEndingBudget returns what an ending outside the root zone may cost. Names
// of fewer than four letters are also names of hosts, so more must speak for a
// slip.
func (d *typedDomain) falseEndingBudget(exact bool) int {
	if exact && len(d.name) >= shortestTyped {
		return exactNameBudget
	}
	return falseEndingBudget
}

// sharesLetterOfEnding reports whether the typed ending has a letter of that of
// t. If it has none, it is no slip but another word.
func (d *typedDomain) sharesLetterOfEnding(t *target) bool {
	return d.endingLetters()&t.letters&^dotSymbol != 0
}

// endingLetters returns the set of the symbols of the typed ending.
func (d *typedDomain) endingLetters() uint64 {
	if d.endingSet == 0 {
		d.endingSet = symbolSet(d.ending)
	}
	return d.endingSet
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
