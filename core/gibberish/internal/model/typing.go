package model

import "github.com/addrspec/addrspec/core/internal/keyboard"

// keyPairs has what each pair of letters adds to stats.typing: three sums
// packed into one word. The first letter is bits 5 to 9 of the index. A pair
// with any other symbol adds 0. Layouts other than QWERTY move few letters, so
// strings typed along their adjacent keys have short distances here too.
var keyPairs = func() (table [1 << 10]uint32) {
	row, column := letterKeys()
	for a := 1; a < digit; a++ {
		for b := 1; b < digit; b++ {
			across, down := column[a]-column[b], row[a]-row[b]
			pair := uint32(max(across, -across, down, -down)) + 1<<pairsShift
			if column[a] < keyboard.LeftHand == (column[b] < keyboard.LeftHand) {
				pair += 1 << oneHandedShift
			}
			table[a<<5|b] = pair
		}
	}
	return table
}()

// Bit positions of the sums in stats.typing: distances in keys (less than nine
// times MaxName) from bit 0, then pairs typed by one hand, then all pairs.
const (
	oneHandedShift = 10
	pairsShift     = oneHandedShift + 7
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
