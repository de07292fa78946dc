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
	start := 0
	for start < len(typed) && start < len(meant) && typed[start] == meant[start] {
		start++
	}
	if start == len(typed) && start == len(meant) {
		return 0
	}
	var rows [3][maxCompared + 1]int16
	above, row := &rows[0], &rows[1]
	for j := start; j < len(meant); j++ {
		row[j+1] = row[j] + skipCost(meant, j)
	}
	before, leastAbove := &rows[2], int16(0)
	for i := start; i < len(typed); i++ {
		before, above, row = above, row, before
		least := k.fill(before, above, row, typed, meant, i, start)
		if int(min(least, leastAbove+costSwap)) > budget {
			return farApart
		}
		leastAbove = least
	}
	return int(row[len(meant)])
}

// fill computes the row of typed[i] from the two above it and returns its
// least cost.
func (k *keyboard) fill(before, above, row *[maxCompared + 1]int16, typed, meant []byte, i, start int) int16 {
	row[start] = above[start] + k.additionCost(typed, i)
	least := row[start]
	for j := start; j < len(meant); j++ {
		cost := above[j] + k.exchangeCost(typed[i], meant[j])
		cost = min(cost, above[j+1]+k.additionCost(typed, i), row[j]+skipCost(meant, j))
		if i > start && j > start && typed[i] == meant[j-1] && typed[i-1] == meant[j] && typed[i] != typed[i-1] {
			cost = min(cost, before[j-1]+costSwap)
		}
		row[j+1] = cost
		least = min(least, cost)
	}
	return least
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
