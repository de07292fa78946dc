package typo

import "bytes"

// nameBudget bounds the cost of the slips in a name plus its rarity, by the
// length of the shorter of the two names. Nearly every short name is some
// real domain; few long ones are.
var nameBudget = [...]int{3: 9, 4: 11, 5: 14, 6: 21}

// compoundBudget replaces nameBudget if both names contain the same stock word,
// by the number of letters of the typed name outside it. Real services have put
// every letter, pair and short word before "mail" and "cloud", so the stock
// word itself is no evidence.
//
// The most used target is an exception if the letter is the key beside its own:
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

// budget returns what slips and rarity may cost if d was typed for n.
func (x *Index) budget(d *typedDomain, n *name) int {
	if d.stock != noStockWord && d.stock == n.stock {
		if d.rest == 1 && n.rarity == 0 && x.confusion.isBeside(d.name[0], x.text(n)[0]) {
			return costAdjacent
		}
		return budgetOf(compoundBudget[:], d.rest)
	}
	return budgetOf(nameBudget[:], min(len(d.name), int(n.size)))
}
