package typo

import (
	"math/bits"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

// The costs of single slips, in bits: the negative binary logarithm of how
// often such a slip occurs, rounded. Corpora of typing errors agree on the
// ranking: swapped, doubled and skipped letters are the most frequent, and most
// wrong keys are adjacent to the right one.
const (
	costSwap     = 7  // "hotmial"
	costDouble   = 6  // "yahooo", "yaho"
	costSkip     = 9  // "gmal"
	costDot      = 5  // "yahoo.combr"
	costAdjacent = 8  // "gmsil", "gmaoil"
	costAlike    = 9  // "hotmeil"
	costStray    = 8  // an added digit, hyphen or dot: "g-mail"
	costAddition = 11 // any other added letter
	costExchange = 12 // any other wrong letter

	farApart = 1 << 10 // more than any budget
)

// maxCompared bounds the length of both strings. The distance of longer ones is farApart.
const maxCompared = 31

// edits returns the least cost of typing typed for meant, or farApart if it
// exceeds budget. Letters that agree are no slip, so it matches them and
// tries each slip only where the two differ. Every slip costs at least costDot,
// so the budget bounds the number of tries.
func edits(typed, meant []byte, budget int) int {
	if len(typed) > maxCompared || len(meant) > maxCompared {
		return farApart
	}
	a := alignment{typed, meant}
	return a.cost(0, 0, budget)
}

type alignment struct{ typed, meant []byte }

// cost returns the least cost of typing typed[i:] for meant[j:], or farApart if
// it exceeds budget.
func (a *alignment) cost(i, j, budget int) int {
	for i < len(a.typed) && j < len(a.meant) && a.typed[i] == a.meant[j] {
		i, j = i+1, j+1
	}
	more := len(a.typed) - i - (len(a.meant) - j) // letters to add, or to skip if negative
	switch {
	case i == len(a.typed) && j == len(a.meant):
		return 0
	case costDot*max(more, -more, 1) > budget:
		return farApart
	}
	best := farApart
	if i < len(a.typed) && j < len(a.meant) {
		if i+1 < len(a.typed) && j+1 < len(a.meant) && a.typed[i] == a.meant[j+1] && a.typed[i+1] == a.meant[j] {
			best = a.after(i+2, j+2, costSwap, budget)
		}
		best = min(best, a.after(i+1, j+1, exchangeCost(a.typed[i], a.meant[j]), min(budget, best-1)))
	}
	if i < len(a.typed) {
		best = min(best, a.after(i+1, j, additionCost(a.typed, i), min(budget, best-1)))
	}
	if j < len(a.meant) {
		best = min(best, a.after(i, j+1, skipCost(a.meant, j), min(budget, best-1)))
	}
	return best
}

func (a *alignment) after(i, j, slip, budget int) int {
	if slip > budget {
		return farApart
	}
	return slip + a.cost(i, j, budget-slip)
}

func skipCost(meant []byte, j int) int {
	if meant[j] == '.' {
		return costDot
	}
	if j > 0 && meant[j] == meant[j-1] || j+1 < len(meant) && meant[j] == meant[j+1] {
		return costDouble
	}
	return costSkip
}

func exchangeCost(typed, meant byte) int {
	switch {
	case typed == meant:
		return 0
	case adjacent.has(typed, meant):
		return costAdjacent
	case alike.has(typed, meant):
		return costAlike
	}
	return costExchange
}

// additionCost returns the cost of typing typed[i] in addition. It is lower if
// a letter next to it is the same or on an adjacent key.
func additionCost(typed []byte, i int) int {
	b, cost := typed[i], costAddition
	if b < 'a' {
		cost = costStray
	}
	if i > 0 {
		cost = min(cost, costBeside(b, typed[i-1]))
	}
	if i+1 < len(typed) {
		cost = min(cost, costBeside(b, typed[i+1]))
	}
	return cost
}

func costBeside(b, neighbour byte) int {
	switch {
	case b == neighbour:
		return costDouble
	case adjacent.has(b, neighbour):
		return costAdjacent
	}
	return costAddition
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

// The symbols of a host name are numbered so that a set of them fits in one
// word: letters 0 to 25, digits 26 to 35, hyphen 36, dot 37, any other byte 38.
const symbols = 39

var symbolOf = func() (table [256]uint8) {
	for b := range table {
		table[b] = symbols - 1
	}
	for i, b := range []byte("abcdefghijklmnopqrstuvwxyz0123456789-.") {
		table[b] = uint8(i)
	}
	return table
}()

const dotSymbol = uint64(1) << 37

func symbol(b byte) uint8 { return symbolOf[b] }

func symbolSet(s []byte) (set uint64) {
	for _, b := range s {
		set |= 1 << (symbol(b) & 63)
	}
	return set
}

// relation has, for each symbol, the set of those that it is confused with.
type relation [symbols]uint64

func (r *relation) join(a, b byte) {
	r[symbol(a)] |= 1 << symbol(b)
	r[symbol(b)] |= 1 << symbol(a)
}

func (r *relation) has(a, b byte) bool { return r[symbol(a)]>>(symbol(b)&63)&1 != 0 }

// adjacent are the symbols on keys that touch.
var adjacent = func() (r relation) {
	for _, layout := range []keyboard.Layout{keyboard.QWERTY, keyboard.QWERTZ, keyboard.AZERTY} {
		layout.Adjacent(r.join)
	}
	return r
}()

// alike are letters that sound or look alike, in names written from hearing or memory.
var alike = func() (r relation) {
	const pairs = "aeaoauayeiioiyouueeojyjhgjckcsszkqbdbpbvvwfvpfdtlil1i1o0xsmn"
	for i := 0; i+1 < len(pairs); i += 2 {
		r.join(pairs[i], pairs[i+1])
	}
	return r
}()
