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
// in isOmission.
//
// It knows the targets and the top-level domains and nothing else; that a
// domain is in use elsewhere, its caller knows from the lists.
package typo

import (
	"bytes"
	"math/bits"
)

// clearance is by how many bits the best suggestion must beat the next.
const clearance = 3

// nameBudget is what slips and rarity may cost together, by the length of the
// shorter of the two names. Names of up to three letters are all taken, so that
// none is asked about; long ones are seldom.
var nameBudget = [...]int{3: 9, 4: 11, 5: 15, 6: 21}

const (
	shortestTyped = 4
	shortestBare  = 5
	rarestBare    = 4
)

// compoundBudget is the same for names with a stock word in them, by how many
// letters stand beside that: every letter, pair and short word has been put
// before "mail" and "cloud" by some real service, so only the rest tells.
var compoundBudget = [...]int{1: 0, 2: 12, 3: 14, 4: 15, 5: 18, 6: 21}

func budgetOf(budgets []int, length int) int { return budgets[min(length, len(budgets)-1)] }

const (
	costMisplacedDot = 8  // "gmailcom", "yahooc.om", "t.online.de"
	costFront        = 8  // "1975yahoo.com": part of the local part slid over; "wwwgmail.com"
	costTwice        = 8  // "gmailgmail.com"
	undoneBudget     = 11 // for names seen after undoing such a slip: room for the best known alone
	costNoEnding     = 6  // "hotmail"
)

var (
	dot = []byte{'.'}
	www = []byte("www.")
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
	name, ending []byte // empty for a single label
	top          []byte // the last label
	letters      uint64 // of name
	meant        topSet // the top-level domains that top may have been typed for
}

// Suggest returns the target that domain misspells, or nil where it is one or
// misspells none clearly. domain is lower case and in A-label form. The result
// points into the targets.
func (x *Index) Suggest(domain []byte) []byte {
	domain, isSite := bytes.CutPrefix(domain, www) // a web address for a mail domain
	best := suggestion{cost: farApart, next: farApart}
	if name, ending, found := bytes.Cut(domain, dot); found {
		x.weigh(&best, &typedDomain{text: domain, name: name, ending: ending, top: lastLabel(ending)})
	} else {
		x.weigh(&best, &typedDomain{text: domain, top: domain})
		x.byBareName(&best, domain)
	}
	if best.cost == noSlip && !isSite || best.next-best.cost < clearance {
		return nil
	}
	return x.domain(best.target)
}

// weigh offers every target that d may be meant for.
func (x *Index) weigh(best *suggestion, d *typedDomain) {
	if d.meant = x.meantTops(d.top); d.meant == 0 {
		return
	}
	if len(d.name) > 0 {
		d.letters = letterSet(d.name)
		x.byName(best, d)
		x.byExactName(best, d, withoutFront(d.name), costFront)
		x.byExactName(best, d, once(d.name), costTwice)
	}
	if best.cost == farApart && x.mayMissDot(d) {
		x.byLetters(best, d)
	}
}

// byName offers the targets whose name is near.
func (x *Index) byName(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped {
		x.byExactName(best, d, d.name, 0)
		return
	}
	stock, rest := stockWordIn(d.name)
	first, last := x.lengths(len(d.name)-2, len(d.name)+2)
	for i := first; i < last; i++ {
		if x.under[i]&d.meant == 0 || bits.OnesCount64(d.letters^x.letters[i]) > 4 {
			continue
		}
		n := &x.names[i]
		budget := budgetOf(nameBudget[:], min(len(d.name), int(n.size)))
		if n.stock == stock && stock != noStockWord {
			budget = budgetOf(compoundBudget[:], rest)
		}
		if least := leastCost(d.letters, x.letters[i]); least == 0 || least+int(n.least) <= budget {
			x.byNearName(best, d, n, budget)
		}
	}
}

// byNearName offers the targets of n where the name typed is near it.
func (x *Index) byNearName(best *suggestion, d *typedDomain, n *name, budget int) {
	meant := x.text(n)
	cost := x.keys.edits(d.name, meant, budget)
	if cost <= budget && isRoomy(d.name, meant) {
		x.byEnding(best, d, n, cost, budget)
	}
}

// isRoomy reports whether the names leave room for a slip: where both are as
// short as four letters, one letter for another makes some other short name,
// so that only the very same letters in another order count.
func isRoomy(typed, meant []byte) bool {
	return len(typed) > 4 || len(typed) != len(meant) || letterSet(typed) == letterSet(meant)
}

// byExactName offers the targets called name, what is left of the typed one
// once a slip is undone, which costs cost.
func (x *Index) byExactName(best *suggestion, d *typedDomain, name []byte, cost int) {
	first, last := x.lengths(len(name), len(name))
	for i := first; i < last; i++ {
		if n := &x.names[i]; bytes.Equal(x.text(n), name) {
			x.byEnding(best, d, n, cost, undoneBudget)
		}
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

// mayMissDot tells the few domains worth a pass over all targets from the many
// that end well.
func (x *Index) mayMissDot(d *typedDomain) bool {
	return len(d.name) < 2 || !x.isTop(d.top) || bytes.HasSuffix(d.name, []byte("com")) || bytes.HasSuffix(d.name, []byte("co"))
}

// byBareName offers the targets called name, which has no ending at all. Only
// a name that is known to all and is no word says as much.
func (x *Index) byBareName(best *suggestion, name []byte) {
	first, last := x.lengths(len(name), len(name))
	for _, n := range x.names[first:last] {
		if len(name) >= shortestBare && n.rarity <= rarestBare && bytes.Equal(x.text(&n), name) {
			for _, t := range x.targets[n.first:n.last] {
				best.offer(t, costNoEnding+int(t.rarity))
			}
		}
	}
}

// byLetters offers the targets whose letters are those of domain with the dot
// left out or misplaced.
func (x *Index) byLetters(best *suggestion, d *typedDomain) {
	for _, t := range x.targets {
		if t.top.in(d.meant) && equalButDots(d.text, x.domain(t)) {
			best.offer(t, costMisplacedDot+int(t.rarity))
		}
	}
}
