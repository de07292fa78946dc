package typo

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

// maxCompared bounds the length of both strings of a comparison. The distance
// of longer strings is farApart.
const maxCompared = 31

// edits returns the least cost of typing typed for meant, or more than budget if
// the cost exceeds it. Letters that agree are no slip, so it matches them and
// tries each slip only where the two differ. Every slip costs at least costDot,
// so the budget bounds the number of tries.
func (c *confusion) edits(typed, meant []byte, budget int) int {
	if len(typed) > maxCompared || len(meant) > maxCompared {
		return farApart
	}
	a := alignment{c, typed, meant}
	return a.cost(0, 0, budget)
}

// alignment compares what was typed with what was meant.
type alignment struct {
	confusion    *confusion
	typed, meant []byte
}

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
		if a.isSwap(i, j) {
			best = a.after(i+2, j+2, costSwap, budget)
		}
		best = min(best, a.after(i+1, j+1, a.confusion.exchangeCost(a.typed[i], a.meant[j]), min(budget, best-1)))
	}
	if i < len(a.typed) {
		best = min(best, a.after(i+1, j, a.confusion.additionCost(a.typed, i), min(budget, best-1)))
	}
	if j < len(a.meant) {
		best = min(best, a.after(i, j+1, skipCost(a.meant, j), min(budget, best-1)))
	}
	return best
}

// after returns the cost of a slip and of what follows it at i and j.
func (a *alignment) after(i, j, slip, budget int) int {
	if slip > budget {
		return farApart
	}
	return slip + a.cost(i, j, budget-slip)
}

// isSwap reports whether typed[i] and typed[i+1], which differs from meant[j] at
// i, are the next two letters of meant in reverse.
func (a *alignment) isSwap(i, j int) bool {
	return i+1 < len(a.typed) && j+1 < len(a.meant) && a.typed[i] == a.meant[j+1] && a.typed[i+1] == a.meant[j]
}

// skipCost returns the cost of not typing meant[j].
func skipCost(meant []byte, j int) int {
	if meant[j] == '.' {
		return costDot
	}
	if j > 0 && meant[j] == meant[j-1] || j+1 < len(meant) && meant[j] == meant[j+1] {
		return costDouble
	}
	return costSkip
}

// exchangeCost returns the cost of typing typed in place of meant.
func (c *confusion) exchangeCost(typed, meant byte) int {
	switch {
	case typed == meant:
		return 0
	case c.areAdjacent(typed, meant):
		return costAdjacent
	case c.areAlike(typed, meant):
		return costAlike
	}
	return costExchange
}

// additionCost returns the cost of typing typed[i] in addition. It is lower if
// a letter beside it is the same or on an adjacent key.
func (c *confusion) additionCost(typed []byte, i int) int {
	b, cost := typed[i], costAddition
	if b < 'a' {
		cost = costStray
	}
	if i > 0 {
		cost = min(cost, c.additionBeside(b, typed[i-1]))
	}
	if i+1 < len(typed) {
		cost = min(cost, c.additionBeside(b, typed[i+1]))
	}
	return cost
}

func (c *confusion) additionBeside(b, neighbour byte) int {
	switch {
	case b == neighbour:
		return costDouble
	case c.areAdjacent(b, neighbour):
		return costAdjacent
	}
	return costAddition
}
