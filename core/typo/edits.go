package typo

// Costs of single slips in bits: the negative binary logarithm of how often
// such a slip is seen, rounded. Corpora of typing errors agree on the order:
// swapping, doubling and skipping lead, and most wrong keys lie beside the
// right one.
const (
	costSwap     = 7  // "hotmial"
	costDouble   = 6  // "yahooo", "yaho"
	costSkip     = 9  // "gmal"
	costDot      = 5  // "yahoo.combr"
	costBeside   = 8  // "gmsil", "gmaoil"
	costAlike    = 9  // "hotmeil"
	costStray    = 8  // a digit or hyphen among letters: "g-mail"
	costAddition = 11 // any other letter too many
	costExchange = 12 // any other letter in place of the right one

	farApart = 1 << 10 // more than any budget
)

// maxCompared bounds both strings of one comparison; longer ones are far apart.
const maxCompared = 31

// edits returns what it costs to slip from meant to typed, or more than budget
// where it costs more: Damerau and Levenshtein's distance without overlapping
// swaps, weighted by the keyboard.
func (k *keyboard) edits(typed, meant []byte, budget int) int {
	if len(typed) > maxCompared || len(meant) > maxCompared {
		return farApart
	}
	t := table{keys: k, typed: typed, meant: meant, start: commonPrefix(typed, meant)}
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

// table is the table of distances between the beginnings of typed, a row each,
// and those of meant, past the prefix that they share.
type table struct {
	keys               *keyboard
	typed, meant       []byte
	start              int
	before, above, row [maxCompared + 1]int16 // the last three rows
}

// fill computes the row of typed[i] from the two above it and returns its
// least cost.
func (t *table) fill(i int) int {
	t.before, t.above = t.above, t.row
	addition := t.keys.additionCost(t.typed, i)
	t.row[t.start] = t.above[t.start] + addition
	least := t.row[t.start]
	for j := t.start; j < len(t.meant); j++ {
		cost := t.above[j] + t.keys.exchangeCost(t.typed[i], t.meant[j])
		cost = min(cost, t.above[j+1]+addition, t.row[j]+skipCost(t.meant, j))
		if t.isSwap(i, j) {
			cost = min(cost, t.before[j-1]+costSwap)
		}
		t.row[j+1] = cost
		least = min(least, cost)
	}
	return int(least)
}

// isSwap reports whether typed[i] and the letter before it are meant[j] and
// the one before it, the other way round.
func (t *table) isSwap(i, j int) bool {
	return i > t.start && j > t.start && t.typed[i] == t.meant[j-1] && t.typed[i-1] == t.meant[j] && t.typed[i] != t.typed[i-1]
}

func skipCost(meant []byte, j int) int16 {
	if meant[j] == '.' {
		return costDot
	}
	if j > 0 && meant[j] == meant[j-1] || j+1 < len(meant) && meant[j] == meant[j+1] {
		return costDouble
	}
	return costSkip
}

func (k *keyboard) exchangeCost(typed, meant byte) int16 {
	switch {
	case typed == meant:
		return 0
	case k.areBeside(typed, meant):
		return costBeside
	case k.areAlike(typed, meant):
		return costAlike
	}
	return costExchange
}

// additionCost is what typed[i] costs where nothing was meant.
func (k *keyboard) additionCost(typed []byte, i int) int16 {
	b, cost := typed[i], int16(costAddition)
	if b < 'a' {
		cost = costStray
	}
	if i > 0 {
		cost = min(cost, k.companyCost(b, typed[i-1]))
	}
	if i+1 < len(typed) {
		cost = min(cost, k.companyCost(b, typed[i+1]))
	}
	return cost
}

func (k *keyboard) companyCost(b, neighbour byte) int16 {
	switch {
	case b == neighbour:
		return costDouble
	case k.areBeside(b, neighbour):
		return costBeside
	}
	return costAddition
}
