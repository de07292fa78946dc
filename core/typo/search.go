package typo

import (
	"bytes"
	"math/bits"
)

// nameBudget is what slips and rarity may cost together, by the length of the
// shorter of the two names. Names of up to three letters are all taken, so that
// none is asked about; long ones are seldom.
var nameBudget = [...]int{3: 9, 4: 11, 5: 14, 6: 21}

// shortestTyped is the length of the shortest name that is asked about.
const shortestTyped = 4

// compoundBudget is the same for names with a stock word in them, by how many
// letters stand beside that: every letter, pair and short word has been put
// before "mail" and "cloud" by some real service, so only the rest tells.
var compoundBudget = [...]int{1: 0, 2: 12, 3: 14, 4: 15, 5: 18, 6: 21}

func budgetOf(budgets []int, length int) int { return budgets[min(length, len(budgets)-1)] }

// stockWords are what names of mail services are made of, with their letters.
var stockWords = [...]struct {
	text    []byte
	letters uint64
}{
	1: {[]byte("mail"), letterSet([]byte("mail"))},
	2: {[]byte("cloud"), letterSet([]byte("cloud"))},
}

const noStockWord = 0

// stockWordIn returns which stock word is in name, whose letters are given,
// and how many letters are beside it.
func stockWordIn(name []byte, letters uint64) (word uint8, rest int) {
	for i := 1; i < len(stockWords); i++ {
		w := &stockWords[i]
		if w.letters&^letters == 0 && bytes.Contains(name, w.text) {
			return uint8(i), len(name) - len(w.text)
		}
	}
	return noStockWord, len(name)
}

// reach is how many letters more or fewer than the typed name a name may have.
const reach = 2

// byName offers the targets whose name is near. One slip changes two symbols
// of the letter set at most.
func (x *Index) byName(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped {
		x.byExactName(best, d, d.name, 0)
		return
	}
	allowed := 4
	if d.stock == noStockWord {
		allowed = 2 * (budgetOf(nameBudget[:], len(d.name)) / costBeside)
	}
	for _, m := range x.near(d) {
		if bits.OnesCount64(d.letters^m.letters) <= allowed {
			x.byNearName(best, d, m)
		}
	}
}

// byNearName offers the targets of one name, where that is near.
func (x *Index) byNearName(best *suggestion, d *typedDomain, m mesh) {
	n := &x.names[m.name]
	budget := d.budget(n)
	if least := leastCost(d.letters, m.letters); n.under&d.meant == 0 || least > 0 && least+int(n.least) > budget {
		return
	}
	cost := x.keys.edits(d.name, x.text(n), budget)
	if cost <= budget && isRoomy(d.name, x.text(n)) {
		x.byEnding(best, d, n, cost, budget)
	}
}

// budget is what may be spent on the way from n to d.
func (d *typedDomain) budget(n *name) int {
	if d.stock != noStockWord && d.stock == n.stock {
		return budgetOf(compoundBudget[:], d.rest)
	}
	return budgetOf(nameBudget[:], min(len(d.name), int(n.size)))
}

// isRoomy reports whether the names leave room for a slip: where both are as
// short as four letters, one letter for another makes some other short name,
// so that only the very same letters in another order count.
func isRoomy(typed, meant []byte) bool {
	return len(typed) > 4 || len(typed) != len(meant) || letterSet(typed) == letterSet(meant)
}

// leastCost is the least that slips between two names of these letters cost:
// a letter that only one of them has took a slip of its own, and a slip mends
// one letter of each at most.
func leastCost(typed, meant uint64) int {
	return costBeside * max(bits.OnesCount64(typed&^meant), bits.OnesCount64(meant&^typed))
}

// letterSet is the set of symbols in s.
func letterSet(s []byte) (set uint64) {
	for _, b := range s {
		set |= 1 << (symbol(b) & 63)
	}
	return set
}
