package typo

import (
	"bytes"
	"math/bits"
)

const (
	endingBudget      = 14      // for an ending with slips
	falseEndingBudget = 16      // if the typed TLD does not exist
	exactNameBudget   = 22      // if the name has no slip, besides
	bothBudget        = 8       // if the name has a slip too
	missingDotBudget  = costDot // and no other slip
	costCutShort      = 6       // "gmail.c", "yahoo.co.i"
	costRepeat        = 8       // "yahoo.com.com"
	costTail          = 6       // "gmail.comse"
	costTailLetter    = 3       // for each letter of it
	costMailEnding    = 12      // "proton.mail", the service's name as it is spoken
	rarestMailEnding  = 6       // rarity of the rarest name with such an ending
)

// longestFalseTLD is the length of the longest top-level domain that is taken for
// a slip. The longest of a target has three letters, and few fit in a tail.
const longestFalseTLD = 10

// longestTail is the length of the longest tail if the name has a slip too.
const longestTail = (falseEndingBudget - costTail) / costTailLetter

var mail = []byte("mail")

// endingCost returns the cost of typing the ending of d for that of t, whose
// TLD is in d.meant. It returns farApart if the cost is over budget or limit, or
// the typed ending is another real one.
func (x *Index) endingCost(d *typedDomain, t *target, limit int) int {
	meant := x.ending(t)
	switch {
	case d.omitted != 0 && d.omitted == pack(meant):
		return costCutShort
	case x.isRegistered(d) || !bytes.Equal(d.tld, x.topLevel(t)):
		return farApart
	}
	budget := min(endingBudget, limit)
	return within(budget, tailCost(d.ending, meant), x.endingSlips(d, t, budget))
}

// falseEndingCost is endingCost for an ending whose TLD does not exist. exact is
// set if the name has no slip.
func (x *Index) falseEndingCost(d *typedDomain, t *target, exact bool, limit int) int {
	budget, forSlips := falseEndingBudget, bothBudget
	if exact {
		if budget = d.exactBudget(); t.ending > 2 {
			forSlips = endingBudget
		}
	}
	budget = min(budget, limit)
	tail := farApart
	if d.isStart(t) {
		tail = tailCost(d.ending, x.ending(t))
	}
	return within(budget, tail, x.endingSlips(d, t, min(budget, forSlips)))
}

// within returns the lower cost, or farApart if it is over budget.
func within(budget, a, b int) int {
	if cost := min(a, b); cost <= budget {
		return cost
	}
	return farApart
}

// endingSlips returns the cost of single slips that lead from the ending of t to
// that of d. They are cheaper than in a name: few endings are in use.
func (x *Index) endingSlips(d *typedDomain, t *target, budget int) int {
	d.readEnding()
	budget = budget * 3 / 2
	if d.dots < t.dots {
		budget = min(budget, missingDotBudget)
	}
	switch {
	case d.dots > t.dots, d.leastEndingSlips(t) > budget: // more dots: a host of another domain
		return farApart
	case d.dots == 1:
		return x.slipsByLabel(d, t, budget) * 2 / 3
	}
	return x.confusion.edits(d.ending, x.ending(t), budget) * 2 / 3
}

// slipsByLabel returns the cost of the slips in both labels of an ending. Many
// targets have the same first label, such as com, so its cost is kept.
func (x *Index) slipsByLabel(d *typedDomain, t *target, budget int) int {
	cost := x.slipsInFirst(d, t)
	if budget = min(budget-cost, t.topBudget()); d.leastTopSlips(t) > budget {
		return farApart
	}
	return cost + x.confusion.edits(d.tld, x.topLevel(t), budget)
}

// slipsInFirst returns the cost of the slips in the first label of an ending of
// two labels.
func (x *Index) slipsInFirst(d *typedDomain, t *target) int {
	if cost := d.firstCosts[t.first]; cost != 0 {
		return int(cost) - 1
	}
	typed, _, _ := bytes.Cut(d.ending, dot)
	meant, _, _ := bytes.Cut(x.ending(t), dot)
	cost := x.confusion.edits(typed, meant, endingBudget*3/2)
	if t.first != manyFirsts {
		d.firstCosts[t.first] = uint16(cost + 1)
	}
	return cost
}

// leastEndingSlips returns a lower bound of the cost of slips between the ending
// of t and that of d.
func (d *typedDomain) leastEndingSlips(t *target) int {
	return leastCost(d.endingSet&^dotSymbol, t.letters&^dotSymbol, len(d.ending)-int(t.ending))
}

// mayHaveEnding reports whether the ending of d may have been typed for that of a
// target called n, if there is a slip in the name too. It excludes most names
// where the typed TLD does not exist.
func (x *Index) mayHaveEnding(d *typedDomain, n *name) bool {
	if d.meant != allTLDs {
		return true
	}
	for i := n.first; i < d.lastVariant(n); i++ {
		t := &x.targets[i]
		if d.mayEndAs(t) && (d.leastEndingSlips(t) <= bothBudget*3/2 || d.isStart(t) && len(d.ending)-int(t.ending) <= longestTail) {
			return true
		}
	}
	return false
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

// exactBudget returns what an ending outside the root zone may cost if the
// name has no slip. Names of fewer than four letters are also names of hosts, so
// more must speak for a slip.
func (d *typedDomain) exactBudget() int {
	if len(d.name) >= shortestTyped {
		return exactNameBudget
	}
	return falseEndingBudget
}

// mayEndAs excludes most targets whose ending the one of d cannot be meant for. If
// the two top-level domains share no letter, the typed one is no slip but another
// word. In a tail or an ending cut short, one is the start of the other.
func (d *typedDomain) mayEndAs(t *target) bool {
	d.readEnding()
	return d.topSet&t.topSet != 0 && (d.isStart(t) || d.mayHaveSlips(t))
}

func (d *typedDomain) mayHaveSlips(t *target) bool {
	if d.dots > t.dots || d.dots > 0 && d.leastTopSlips(t) > t.topBudget() {
		return false
	}
	return d.leastEndingSlips(t) <= endingBudget*3/2
}

// leastTopSlips returns a lower bound of the cost of slips between the top-level
// domains.
func (d *typedDomain) leastTopSlips(t *target) int {
	return leastCost(d.topSet, t.topSet, len(d.tld)-int(t.top))
}

// topBudget returns what the slips in the top-level domain of t may cost: two
// would leave nothing of two letters.
func (t *target) topBudget() int {
	if t.top <= 2 {
		return costExchange
	}
	return endingBudget * 3 / 2
}

// isStart reports whether the typed ending or that of t is the start of the
// other, by their first bytes.
func (d *typedDomain) isStart(t *target) bool {
	same := bits.LeadingZeros64(d.start^t.start) / 8
	return same >= min(len(d.ending), int(t.ending), 8)
}

// startOf returns the first 8 bytes of ending as one word.
func startOf(ending []byte) (start uint64) {
	for i := range 8 {
		start <<= 8
		if i < len(ending) {
			start |= uint64(ending[i])
		}
	}
	return start
}

// readEnding determines the set of the symbols of the typed ending and the number
// of its dots, unless that is done.
func (d *typedDomain) readEnding() {
	if d.endingSet == 0 {
		d.endingSet, d.topSet = symbolSet(d.ending), symbolSet(d.tld)
		d.start = startOf(d.ending)
		d.dots = uint8(bytes.Count(d.ending, dot))
	}
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
