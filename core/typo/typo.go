// Package typo finds the mail provider that a domain misspells.
//
// It compares two explanations of a domain that is in no list. Either the user
// meant a provider: the cost is that of the slips (slips.go) plus the rarity of
// the provider, by its rank among the targets. Or the domain is real: the
// shorter its name, the more likely. All costs are in bits, so they add up. The
// provider is suggested if its cost is within the budget that the length of the
// name allows and no other provider comes close.
//
// The name (the first label) and the ending (the rest) are scored separately.
// An ending outside the root zone cannot be real, so it allows more slips.
// Another ending that is in it makes another domain, except for the omissions in
// completed.
//
// The package has only the targets and the top-level domains. Whether a domain
// is in use elsewhere is for the caller to check, in the lists.
package typo

import (
	"bytes"
	"math/bits"
)

// clearance is how many bits lower the cost of the best candidate must be than
// that of the next.
const clearance = 3

var (
	dot = []byte{'.'}
	www = []byte("www.")
	com = []byte("com")
)

// noSlip is the cost of a domain that is a target.
const noSlip = -1

// suggestion is the best target so far, and the lowest cost of the others.
type suggestion struct {
	target     target
	cost, next int
}

// limit returns the highest cost that still matters: a target that costs more
// than clearance above the best one changes nothing.
func (s *suggestion) limit() int { return s.cost + clearance - 1 }

func (s *suggestion) offer(target target, cost int) {
	switch {
	case cost < s.cost:
		s.target, s.cost, s.next = target, cost, s.cost
	case cost < s.next:
		s.next = cost
	}
}

// typedDomain is the parts of the domain given to Suggest.
type typedDomain struct {
	text         []byte
	name, ending []byte                 // a single label is the ending
	tld          []byte                 // the last label
	letters      uint64                 // set of the symbols of name
	stock        uint8                  // stock word in name
	rest         int                    // number of letters of name outside it
	meant        tldSet                 // the top-level domains that tld may be typed for
	hasTargetTLD bool                   // tld is in the table of the targets' TLDs
	omitted      uint64                 // com or net if ending is one of them with a letter left out
	registered   truth                  // registries take names under ending
	endingSet    uint64                 // set of the symbols of ending, or 0 if not yet computed
	topSet       uint64                 // set of the symbols of tld, if endingSet is not 0
	start        uint64                 // startOf ending, likewise
	dots         uint8                  // in ending, likewise
	firstCosts   [manyFirsts + 1]uint16 // 1 + cost of the slips in the first label of ending, by target.first
}

// truth is a fact that is determined when it is first needed.
type truth uint8

const (
	unknown truth = iota
	yes
	no
)

// Suggest returns the target that domain misspells. It returns nil if domain is
// a target, misspells none, or two about equally well. domain is in lower case
// and in A-label form. The result points into the targets.
func (x *Index) Suggest(domain []byte) []byte {
	isSite := startsWith(domain, www) // a web site's name typed for a mail domain
	if isSite {
		domain = domain[len(www):]
	}
	best := suggestion{cost: farApart, next: farApart}
	name, ending, found := bytes.Cut(domain, dot)
	if !found {
		name, ending = nil, domain
	}
	switch tld := lastLabel(ending); {
	case found && (isACE(name) || isACE(tld)):
		x.byLook(&best, domain)
	default:
		x.search(&best, domain, name, ending, tld)
		if !found {
			x.byBareName(&best, domain)
		}
	}
	if best.cost == noSlip && !isSite || best.next-best.cost < clearance {
		return nil
	}
	if meant := x.domain(&best.target); !bytes.Equal(meant, domain) || isSite {
		return meant
	}
	return nil // a target outside the root zone
}

// startsWith reports whether s starts with prefix, which is not empty. Few domains have
// its first byte, and the call of bytes.HasPrefix costs more than that comparison.
func startsWith(s, prefix []byte) bool {
	return len(s) > 0 && s[0] == prefix[0] && bytes.HasPrefix(s, prefix)
}

// search offers every target that domain may be meant for.
func (x *Index) search(best *suggestion, domain, name, ending, tld []byte) {
	var d typedDomain
	d.text, d.name, d.ending, d.tld = domain, name, ending, tld
	if !x.classify(&d) {
		return
	}
	if len(name) > 0 {
		x.byName(best, &d)
		x.byExactName(best, &d, withoutFront(name), costFront)
		x.byExactName(best, &d, half(name), costTwice)
	}
	if best.cost < farApart {
		return
	}
	if x.byASCIILook(best, &d); best.cost == farApart && d.mayMissDot() {
		x.byLetters(best, &d)
	}
}

// classify determines the rest of d from its parts. It returns false if the
// top-level domain is not typed for that of any target.
func (x *Index) classify(d *typedDomain) bool {
	d.meant, d.hasTargetTLD = x.meantTLDs(d.tld)
	if d.meant == 0 || d.meant == allTLDs && len(d.name) > 0 && len(d.tld) > longestFalseTLD {
		return false
	}
	d.letters = symbolSet(d.name)
	d.stock, d.rest = stockWordIn(d.name, d.letters)
	d.omitted = completed(pack(d.ending))
	return true
}

// shortestTyped is the length of the shortest name that may contain a slip.
// Shorter names are only compared for equality.
const shortestTyped = 4

// maxLengthDifference bounds how many bytes the typed name may be longer or
// shorter than the name it is compared with.
const maxLengthDifference = 2

// byName offers the targets with a name close to that of d.
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

// byEnding offers the targets of n with an ending close to that of d. cost is
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
