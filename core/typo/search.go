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
	budget := budgetOf(nameBudget[:], len(d.name)) // no budget is higher
	slips := budget / costAdjacent
	if d.meant == allTLDs { // all names are compared, unless d has one of them
		if n := x.called(d.name); n != nil {
			x.byEnding(best, d, n, 0, 0)
			return
		}
		slips = 1
	}
	list := x.candidatesFor(d, min(slips, maxLengthDifference))
	for i := range list {
		if c := &list[i]; d.mayMean(c, slips, budget) {
			x.byNearName(best, d, c)
		}
	}
}

// mayMean reports whether c is worth a comparison, by its letters and length. A slip
// adds two symbols at most that only one of the names has.
func (d *typedDomain) mayMean(c *candidate, slips, budget int) bool {
	return bits.OnesCount64(d.letters^c.letters) <= 2*slips && d.leastCost(c)+int(c.least) <= budget
}

// leastCost returns a lower bound of the cost of slips between the name and c.
func (d *typedDomain) leastCost(c *candidate) int {
	return leastCost(d.letters, c.letters, len(d.name)-int(c.size))
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
	budget := x.budget(d, n)
	forSlips := min(budget, best.limit()) - int(n.least)
	if d.meant == allTLDs {
		forSlips = min(forSlips, costExchange) // a single slip besides those in the ending
	}
	if d.leastCost(c) > forSlips || !allowsSlip(d.name, x.text(n)) || !x.mayHaveEnding(d, n) {
		return
	}
	if cost := x.confusion.edits(d.name, x.text(n), forSlips); cost <= forSlips && (n.rarity < rareName || !x.confusion.isOtherVowel(d.name, x.text(n))) {
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
	if d.meant == allTLDs {
		x.byFalseEnding(best, d, n, cost, budget)
		return
	}
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
			if slip := x.endingCost(d, t, best.limit()-before); slip < farApart {
				best.offer(*t, before+slip)
			}
		}
	}
}

// byFalseEnding is byEnding for a top-level domain that does not exist.
func (x *Index) byFalseEnding(best *suggestion, d *typedDomain, n *name, cost, budget int) {
	last := n.last
	if cost > 0 {
		last = d.lastVariant(n)
	}
	switch {
	case cost > 0 && cost+int(n.rarity) > budget:
		return
	case cost == 0 && len(d.name) > shortestTyped && n.rarity <= rarestMailEnding && bytes.Equal(d.ending, mail):
		t := x.targets[n.first]
		best.offer(t, costMailEnding+int(t.rarity))
		return
	}
	for i := n.first; i < last; i++ {
		t := &x.targets[i]
		before := cost + int(t.rarity)
		if before > best.limit() { // and the rest are rarer
			return
		}
		if !d.mayEndAs(t) {
			continue
		}
		if slip := x.falseEndingCost(d, t, cost == 0, best.limit()-before); slip < farApart {
			best.offer(*t, before+slip)
		}
	}
}

// rareName is the rarity from which another vowel makes another name: more
// companies are called frontiir or excito than users misspell frontier and excite.
const rareName = 7

// isOtherVowel reports whether typed and meant, which differ, do so in one vowel
// only and its key is not adjacent.
func (c *confusion) isOtherVowel(typed, meant []byte) bool {
	i := commonPrefix(typed, meant)
	if len(typed) != len(meant) || !bytes.Equal(typed[i+1:], meant[i+1:]) {
		return false
	}
	return isVowel(typed[i]) && isVowel(meant[i]) && !c.areAdjacent(typed[i], meant[i])
}

func isVowel(b byte) bool { return vowels>>(symbol(b)&63)&1 != 0 }

func commonPrefix(a, b []byte) (length int) {
	for length < len(a) && length < len(b) && a[length] == b[length] {
		length++
	}
	return length
}

// variantsWithSlip is how many targets of a name are compared if there are slips in
// the name and in the top-level domain.
const variantsWithSlip = 6

// lastVariant returns the end of the targets of n to compare if the typed name has
// a slip. They are sorted by rank.
func (d *typedDomain) lastVariant(n *name) uint16 {
	if d.meant == allTLDs {
		return min(n.last, n.first+variantsWithSlip)
	}
	return n.last
}

// allowsSlip reports whether the names are long enough for a slip. If both
// have four letters, exchanging one gives another real name, so both must have
// the same letters in another order.
func allowsSlip(typed, meant []byte) bool {
	return len(typed) > 4 || len(typed) != len(meant) || symbolSet(typed) == symbolSet(meant)
}

// leastCost returns a lower bound of the cost of slips between two strings with
// these sets of symbols, of which the typed one is longer by more bytes: each
// symbol that only one of them has takes a slip, and an exchange explains one of
// each. Each byte more is an addition, which explains no symbol of meant, and
// each byte less a skip.
func leastCost(typed, meant uint64, more int) int {
	added, skipped := costAdjacent*bits.OnesCount64(typed&^meant), costAdjacent*bits.OnesCount64(meant&^typed)
	if more < 0 {
		return max(skipped, added-costDot*more)
	}
	return max(added, skipped+costDouble*more)
}
