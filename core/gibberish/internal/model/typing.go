package model

import "github.com/addrspec/addrspec/core/internal/keyboard"

// keyPairs has what each pair of letters adds to stats.typing: three sums
// packed into one word. The first letter is bits 5 to 9 of the index. A pair
// with any other symbol adds 0. Layouts other than QWERTY move few letters, so
// strings typed along their adjacent keys have short distances here too.
var keyPairs = func() (table [1 << 10]uint64) {
	row, column := letterKeys()
	steps := rowSteps()
	for a := 1; a < digit; a++ {
		for b := 1; b < digit; b++ {
			across, down := column[a]-column[b], row[a]-row[b]
			pair := uint64(max(across, -across, down, -down)) + 1<<pairsShift + steps[a<<5|b]<<rightShift + steps[b<<5|a]<<leftShift
			if column[a] < keyboard.LeftHand == (column[b] < keyboard.LeftHand) {
				pair += 1 << oneHandedShift
			}
			table[a<<5|b] = pair
		}
	}
	return table
}()

// rowSteps has a 1 for each pair of letters that lie side by side in a row of
// QWERTY, QWERTZ or AZERTY, the left one first.
func rowSteps() (steps [1 << 10]uint64) {
	for _, layout := range []*keyboard.Layout{&keyboard.QWERTY, &keyboard.QWERTZ, &keyboard.AZERTY} {
		for _, keys := range layout.LetterRows() {
			for i := range len(keys) - 1 {
				steps[int(keys[i]-'a'+1)<<5|int(keys[i+1]-'a'+1)] = 1
			}
		}
	}
	return steps
}

// Bit positions of the sums in stats.typing: distances in keys (less than nine
// times MaxName) from bit 0, then pairs typed by one hand, all pairs, and steps
// to the right and to the left along a row.
const (
	oneHandedShift = 10
	pairsShift     = oneHandedShift + countBits
	rightShift     = pairsShift + countBits
	leftShift      = rightShift + countBits

	countBits = 7 // MaxName fits
)

// letterKeys returns the row and the column of each letter on QWERTY.
func letterKeys() (row, column [digit]int) {
	for r, keys := range keyboard.QWERTY.LetterRows() {
		for c := range keys {
			s := keys[c] - 'a' + 1
			row[s], column[s] = r, c
		}
	}
	return row, column
}
