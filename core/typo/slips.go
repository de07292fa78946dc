package typo

import (
	"bytes"

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

// alignment compares the typed text with the meant one.
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

// after returns the cost of a slip and of the rest at i and j.
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
// a letter next to it is the same or on an adjacent key.
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

// symbolSet returns the set of symbols in s.
func symbolSet(s []byte) (set uint64) {
	for _, b := range s {
		set |= 1 << (symbol(b) & 63)
	}
	return set
}

// alikePairs are pairs of letters that sound or look alike, so that one
// replaces the other in names written from hearing or from memory.
const alikePairs = "aeaoauayeiioiyouueeojyjhgjckcsszkqbdbpbvvwfvpfdtlil1i1o0xsmn"

// confusion has, for each symbol, the set of symbols on adjacent keys, of those
// next to it in the middle row of letters, which all layouts share, and of those
// that sound or look alike.
type confusion struct {
	adjacent, beside, alike [symbols]uint64
}

func newConfusion() *confusion {
	c := new(confusion)
	for _, layout := range []keyboard.Layout{keyboard.QWERTY, keyboard.QWERTZ, keyboard.AZERTY} {
		layout.Adjacent(func(a, b byte) { join(&c.adjacent, a, b) })
	}
	middle := keyboard.QWERTY.LetterRows()[1]
	for i := range len(middle) - 1 {
		join(&c.beside, middle[i], middle[i+1])
	}
	for i := 0; i+1 < len(alikePairs); i += 2 {
		join(&c.alike, alikePairs[i], alikePairs[i+1])
	}
	return c
}

func join(sets *[symbols]uint64, a, b byte) {
	sets[symbol(a)] |= 1 << symbol(b)
	sets[symbol(b)] |= 1 << symbol(a)
}

func (c *confusion) areAdjacent(a, b byte) bool { return c.adjacent[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (c *confusion) isBeside(a, b byte) bool    { return c.beside[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (c *confusion) areAlike(a, b byte) bool    { return c.alike[symbol(a)]>>(symbol(b)&63)&1 != 0 }

// nameBudget bounds the cost of the slips in a name plus its rarity, by the
// length of the shorter of the two names. Nearly every short name is some
// real domain; few long ones are.
var nameBudget = [...]int{3: 9, 4: 11, 5: 14, 6: 21}

// compoundBudget replaces nameBudget if both names contain the same stock word,
// by the number of letters of the typed name outside it. Real services have put
// every letter, pair and short word before "mail" and "cloud", so the stock
// word itself is no evidence.
//
// The most used target is an exception if the letter is the key next to its own:
// hmail and fmail are typed for gmail. No list of mail services has these two,
// though they have most other letters.
var compoundBudget = [...]int{1: 0, 2: 12, 3: 14, 4: 15, 5: 18, 6: 21}

func budgetOf(budgets []int, length int) int { return budgets[min(length, len(budgets)-1)] }

// stockWords are words that names of mail services are composed of, with their
// letters.
var stockWords = [...]struct {
	text    []byte
	letters uint64
}{
	1: {[]byte("mail"), symbolSet([]byte("mail"))},
	2: {[]byte("cloud"), symbolSet([]byte("cloud"))},
}

const noStockWord = 0

// stockWordIn returns which stock word name contains and how many letters are
// outside it. letters is the set of name's letters.
func stockWordIn(name []byte, letters uint64) (word uint8, rest int) {
	for i := 1; i < len(stockWords); i++ {
		w := &stockWords[i]
		if w.letters&^letters == 0 && bytes.Contains(name, w.text) {
			return uint8(i), len(name) - len(w.text)
		}
	}
	return noStockWord, len(name)
}

// budget returns the budget of slips and rarity if d was typed for n.
func (x *Index) budget(d *typedDomain, n *name) int {
	if d.stock != noStockWord && d.stock == n.stock {
		if d.rest == 1 && n.rarity == 0 && x.confusion.isBeside(d.name[0], x.text(n)[0]) {
			return costAdjacent
		}
		return budgetOf(compoundBudget[:], d.rest)
	}
	return budgetOf(nameBudget[:], min(len(d.name), int(n.size)))
}

// Some slips change many letters at once, so an edit distance overrates them.
// They are undone first; the rest must be a target or its name.
const (
	costMisplacedDot = 8  // "gmailcom", "yahooc.om", "t.online.de"
	costFront        = 8  // "1975yahoo.com", where part of the local part moved; "wwwgmail.com"
	costTwice        = 8  // "gmailgmail.com"
	undoneBudget     = 11 // enough for the best-known names only
	costNoEnding     = 6  // "hotmail"
	shortestBare     = 5  // length of the shortest name with a vowel that is recognized without an ending
	shortestBareSlip = 6  // length of the shortest one with a slip
	rarestBare       = 4  // rarity of the rarest
)

// vowels are in all short words: a short name without them is no word.
var vowels = symbolSet([]byte("aeiouy"))

// withoutFront returns name without "www" or two or more digits at its front;
// nil if it has neither.
func withoutFront(name []byte) []byte {
	if startsWith(name, www[:3]) {
		return name[3:]
	}
	digits := 0
	for digits < len(name) && name[digits] >= '0' && name[digits] <= '9' {
		digits++
	}
	if digits < 2 {
		return nil
	}
	return name[digits:]
}

// half returns half of name if both halves are equal, otherwise nil.
func half(name []byte) []byte {
	half := len(name) / 2
	if half == 0 || len(name)%2 != 0 || name[0] != name[half] || !bytes.Equal(name[:half], name[half:]) {
		return nil
	}
	return name[:half]
}

// mayMissDot reports whether d may have a dot left out or misplaced. It excludes
// most domains, because byLetters compares with every target.
func (d *typedDomain) mayMissDot() bool {
	return len(d.name) < 2 || !d.hasTargetTLD || bytes.HasSuffix(d.name, com) || bytes.HasSuffix(d.name, com[:2])
}

// byBareName offers the targets called as typed, which has no ending and
// perhaps a slip. A short or rare name may be a word, so it matches none.
func (x *Index) byBareName(best *suggestion, typed []byte) {
	for _, i := range x.bare {
		n := &x.names[i]
		if cost := x.bareCost(typed, n); cost < farApart {
			for j := n.first; j < n.last; j++ {
				t := &x.targets[j]
				best.offer(*t, costNoEnding+cost+int(t.rarity))
			}
		}
	}
}

// bareCost returns the cost of typing typed for that of n.
func (x *Index) bareCost(typed []byte, n *name) int {
	if bytes.Equal(x.text(n), typed) {
		if len(typed) < shortestBare && symbolSet(typed)&vowels != 0 { // web, live
			return farApart
		}
		return 0
	}
	if len(typed) < shortestBareSlip {
		return farApart
	}
	return x.confusion.edits(typed, x.text(n), costSkip)
}
