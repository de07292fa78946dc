// Package typo finds the mail provider that a domain misspells.
//
// It weighs two stories about a domain that is in no list. Either somebody
// slipped on the way to a provider, which costs the slips (edits.go) and the
// rarity of the provider (its rank among the targets); or the domain is real,
// which is the likelier the shorter its name is. All costs are bits, so they
// add. The provider wins where its cost stays within the budget that the
// length of the name grants, and no other provider comes near it.
//
// The name (the first label) and the ending (the rest) are scored apart: an
// ending outside the root zone cannot be real and so allows more slips, while
// another real ending is another domain, never a slip, but for the omissions
// in completed.
//
// It knows the targets and the top-level domains and nothing else; that a
// domain is in use elsewhere, its caller knows from the lists.
package typo

import "bytes"

// clearance is by how many bits the best suggestion must beat the next.
const clearance = 3

var (
	dot = []byte{'.'}
	www = []byte("www.")
	com = []byte("com")
)

// noSlip is the cost of a domain that is a target.
const noSlip = -1

// suggestion is the best candidate so far and the cost of the next best.
type suggestion struct {
	target     target
	cost, next int
}

func (s *suggestion) offer(target target, cost int) {
	switch {
	case cost < s.cost:
		s.target, s.cost, s.next = target, cost, s.cost
	case cost < s.next:
		s.next = cost
	}
}

// typedDomain is the domain asked about, in its parts.
type typedDomain struct {
	text         []byte
	name, ending []byte // a single label is all ending
	top          []byte // the last label
	letters      uint64 // of name
	stock        uint8  // the stock word in name
	rest         int    // how many letters of name are beside it
	meant        topSet // the top-level domains that top may have been typed for
	isTop        bool   // top is the top-level domain of some target
}

// Suggest returns the target that domain misspells, or nil where it is one or
// misspells none clearly. domain is lower case and in A-label form. The result
// points into the targets.
func (x *Index) Suggest(domain []byte) []byte {
	domain, isSite := bytes.CutPrefix(domain, www) // a web address for a mail domain
	best := suggestion{cost: farApart, next: farApart}
	if name, ending, found := bytes.Cut(domain, dot); found {
		x.weigh(&best, domain, name, ending)
	} else {
		x.weigh(&best, domain, nil, domain)
		x.byBareName(&best, domain)
	}
	if best.cost == noSlip && !isSite || best.next-best.cost < clearance {
		return nil
	}
	return x.domain(best.target)
}

// weigh offers every target that domain may be meant for.
func (x *Index) weigh(best *suggestion, domain, name, ending []byte) {
	top, letters := lastLabel(ending), letterSet(name)
	stock, rest := stockWordIn(name, letters)
	meant, isTop := x.meantTops(top)
	if meant == 0 {
		return
	}
	var d typedDomain // whole literals are made elsewhere and copied
	d.text, d.name, d.ending, d.top = domain, name, ending, top
	d.letters, d.stock, d.rest = letters, stock, rest
	d.meant, d.isTop = meant, isTop
	if len(name) > 0 {
		x.byName(best, &d)
		x.byExactName(best, &d, withoutFront(name), costFront)
		x.byExactName(best, &d, once(name), costTwice)
	}
	if best.cost == farApart && d.mayMissDot() {
		x.byLetters(best, &d)
	}
}

// byEnding offers the targets of n by their endings. cost is what the name
// cost; unless it is exact, that and its rarity must stay within budget.
func (x *Index) byEnding(best *suggestion, d *typedDomain, n *name, cost, budget int) {
	for _, t := range x.targets[n.first:n.last] {
		meant := x.ending(t)
		switch {
		case !t.top.in(d.meant):
		case bytes.Equal(d.ending, meant) && cost == 0:
			best.offer(t, noSlip)
		case bytes.Equal(d.ending, meant):
			if cost+int(t.rarityInEnding) <= budget {
				best.offer(t, cost+int(t.rarityInEnding))
			}
		case cost == 0 || cost+int(n.rarity) <= budget:
			if slip := x.endingCost(d, meant); slip < farApart {
				best.offer(t, cost+slip+int(t.rarity))
			}
		}
	}
}
