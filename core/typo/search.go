package typo

import (
	"bytes"
	"math/bits"
)

// shortestTyped is the length of the shortest name that may contain a slip.
// Shorter names are only compared for equality.
const shortestTyped = 4

// maxLengthDifference bounds how many bytes the typed name may be longer or
// shorter than the name it is compared with.
const maxLengthDifference = 2

// byName offers the targets whose name is close to that of d.
func (x *Index) byName(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped {
		x.byExactName(best, d, d.name, 0)
		return
	}
	allowed := 4 // symbols that only one of the names has; a slip adds two at most
	if d.stock == noStockWord {
		allowed = 2 * (budgetOf(nameBudget[:], len(d.name)) / costAdjacent)
	}
	list := x.candidatesFor(d)
	for i := range list {
		if bits.OnesCount64(d.letters^list[i].letters) <= allowed {
			x.byNearName(best, d, &list[i])
		}
	}
}

// byNearName offers the targets of c's name if it is within budget.
func (x *Index) byNearName(best *suggestion, d *typedDomain, c *candidate) {
	n := &x.names[c.name]
	if n.tlds&d.meant == 0 {
		return
	}
	if d.letters == c.letters && bytes.Equal(d.name, x.text(n)) {
		x.byEnding(best, d, n, 0, 0)
		return
	}
	budget := d.budget(n)
	forSlips := min(budget, best.limit()) - int(n.least)
	if leastCost(d.letters, c.letters) > forSlips || !allowsSlip(d.name, x.text(n)) {
		return
	}
	if cost := x.confusion.edits(d.name, x.text(n), forSlips); cost <= forSlips {
		x.byEnding(best, d, n, cost, budget)
	}
}

// byExactName offers the targets called name. cost is that of the slip that
// was undone to get name from d.
func (x *Index) byExactName(best *suggestion, d *typedDomain, name []byte, cost int) {
	if n := x.called(name); n != nil {
		x.byEnding(best, d, n, cost, undoneBudget)
	}
}

// called returns the name with that text, or nil.
func (x *Index) called(text []byte) *name {
	first, last := x.ofLength(len(text))
	for i := first; i < last; i++ {
		if n := &x.names[i]; x.lines[n.at] == text[0] && bytes.Equal(x.text(n), text) {
			return n
		}
	}
	return nil
}

// byEnding offers the targets of n whose ending is close to that of d. cost is
// the cost of the slips in the name. If it is not 0, it must be within budget
// together with the rarity.
func (x *Index) byEnding(best *suggestion, d *typedDomain, n *name, cost, budget int) {
	for i := n.first; i < n.last; i++ {
		t := &x.targets[i]
		switch {
		case !t.tld.in(d.meant):
		case bytes.Equal(d.ending, x.ending(t)) && cost == 0:
			best.offer(*t, noSlip)
		case bytes.Equal(d.ending, x.ending(t)):
			if cost+int(t.rarityInEnding) <= budget {
				best.offer(*t, cost+int(t.rarityInEnding))
			}
		case cost == 0 || cost+int(n.rarity) <= budget:
			before := cost + int(t.rarity)
			if slip := x.endingCost(d, t, cost == 0, best.limit()-before); slip < farApart {
				best.offer(*t, before+slip)
			}
		}
	}
}

// allowsSlip reports whether the names are long enough for a slip. If both
// have four letters, exchanging one gives another real name, so both must have
// the same letters in another order.
func allowsSlip(typed, meant []byte) bool {
	return len(typed) > 4 || len(typed) != len(meant) || symbolSet(typed) == symbolSet(meant)
}

// leastCost returns a lower bound of the cost of slips between two names with
// these sets of symbols: each symbol that only one of them has takes a slip,
// and a slip can explain one such symbol of each.
func leastCost(typed, meant uint64) int {
	return costAdjacent * max(bits.OnesCount64(typed&^meant), bits.OnesCount64(meant&^typed))
}
