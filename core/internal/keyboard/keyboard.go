// Package keyboard has the key rows of the common layouts. Package typo takes
// from it which keys are adjacent; package gibberish and its trainer take how
// letters lie on QWERTY and which hand types them.
package keyboard

// Layout is the key rows of a keyboard from top to bottom. Each row is shifted
// half a key to the right of the row above, so key i touches keys i-1 and i of
// the row below.
type Layout [4]string

var (
	QWERTY = Layout{"1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm-."}
	QWERTZ = Layout{"1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm-."}
	AZERTY = Layout{"1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn.-"}
)

// LeftHand is how many keys of each letter row the left hand types.
const LeftHand = 5

// Adjacent calls visit once for each pair of keys that touch.
func (l *Layout) Adjacent(visit func(a, b byte)) {
	for r, row := range l {
		for i := range row {
			if i+1 < len(row) {
				visit(row[i], row[i+1])
			}
			if r+1 == len(l) {
				continue
			}
			for _, below := range [2]int{i - 1, i} {
				if below >= 0 && below < len(l[r+1]) {
					visit(row[i], l[r+1][below])
				}
			}
		}
	}
}

// LetterRows returns the three rows that have letters, without their other keys.
func (l *Layout) LetterRows() (rows [3]string) {
	for i, row := range l[1:] {
		for row[len(row)-1] < 'a' {
			row = row[:len(row)-1]
		}
		rows[i] = row
	}
	return rows
}
