package model

// leetLetters are the letters that the digits 0 to 9 replace inside a word; a
// space if a digit hardly ever replaces one.
const leetLetters = "oi eas t  "

// unleet replaces digits that have a letter on their right with the letters
// that they look like, and returns how many it replaced. It works from right
// to left, so a digit just replaced counts as a letter for the digit on its
// left. Digits at the end of a run are a number and stay.
func (n *Name) unleet() int {
	if n.digits == 0 {
		return 0
	}
	count := 0
	for i := n.length - 2; i >= 0; i-- {
		if n.symbol[i] != digit || !isLetter(n.symbol[i+1]) {
			continue
		}
		letter := leetLetters[n.value[i]]
		if letter == ' ' {
			continue
		}
		n.symbol[i] = letter - 'a' + 1
		n.letters |= 1 << i
		n.digits &^= 1 << i
		count++
	}
	return count
}
