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

// edits returns the cost of typing typed for meant, or more than budget if the
// cost exceeds it. It is the optimal string alignment distance (Damerau and
// Levenshtein's without overlapping swaps) with the costs above.
func (c *confusion) edits(typed, meant []byte, budget int) int {
	if len(typed) > maxCompared || len(meant) > maxCompared {
		return farApart
	}
	t := table{confusion: c, typed: typed, meant: meant, start: commonPrefix(typed, meant)}
	for j := t.start; j < len(meant); j++ {
		t.row[j+1] = t.row[j] + skipCost(meant, j)
	}
	var least, leastAbove int
	for i := t.start; i < len(typed); i++ {
		least, leastAbove = t.fill(i), least
		if min(least, leastAbove+costSwap) > budget {
			return farApart
		}
	}
	return int(t.row[len(meant)])
}

func commonPrefix(a, b []byte) (length int) {
	for length < len(a) && length < len(b) && a[length] == b[length] {
		length++
	}
	return length
}

// table is the dynamic programming table of edits: a row for each prefix of
// typed, a column for each prefix of meant, both longer than the common prefix.
type table struct {
	confusion          *confusion
	typed, meant       []byte
	start              int                    // length of the common prefix
	before, above, row [maxCompared + 1]int16 // the last three rows
}

// fill computes the row of typed[i] from the two rows above and returns its
// least cost.
func (t *table) fill(i int) int {
	t.before, t.above = t.above, t.row
	addition := t.confusion.additionCost(t.typed, i)
	t.row[t.start] = t.above[t.start] + addition
	least := t.row[t.start]
	for j := t.start; j < len(t.meant); j++ {
		cost := t.above[j] + t.confusion.exchangeCost(t.typed[i], t.meant[j])
		cost = min(cost, t.above[j+1]+addition, t.row[j]+skipCost(t.meant, j))
		if t.isSwap(i, j) {
			cost = min(cost, t.before[j-1]+costSwap)
		}
		t.row[j+1] = cost
		least = min(least, cost)
	}
	return int(least)
}

// isSwap reports whether typed[i-1] and typed[i] are meant[j] and meant[j-1],
// two different letters.
func (t *table) isSwap(i, j int) bool {
	return i > t.start && j > t.start && t.typed[i] == t.meant[j-1] && t.typed[i-1] == t.meant[j] && t.typed[i] != t.typed[i-1]
}

// skipCost returns the cost of not typing meant[j].
func skipCost(meant []byte, j int) int16 {
	if meant[j] == '.' {
		return costDot
	}
	if j > 0 && meant[j] == meant[j-1] || j+1 < len(meant) && meant[j] == meant[j+1] {
		return costDouble
	}
	return costSkip
}

// exchangeCost returns the cost of typing typed in place of meant.
func (c *confusion) exchangeCost(typed, meant byte) int16 {
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
func (c *confusion) additionCost(typed []byte, i int) int16 {
	b, cost := typed[i], int16(costAddition)
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

func (c *confusion) additionBeside(b, neighbour byte) int16 {
	switch {
	case b == neighbour:
		return costDouble
	case c.areAdjacent(b, neighbour):
		return costAdjacent
	}
	return costAddition
}
