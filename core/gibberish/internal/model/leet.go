package model

// leetLetters are the letters that digits 0 to 9 stand for between letters; a
// space where a digit hardly ever does.
const leetLetters = "oi eas t  "

// unleet reads digits that touch a letter on their right, or stand between
// letters, as the letters they look like, and returns how many there were. A
// run of digits that ends the name is a number and stays.
func (t *Text) unleet() int {
	if t.digits == 0 {
		return 0
	}
	count := 0
	for i := t.n - 2; i >= 0; i-- {
		if t.symbol[i] != digit || !isLetter(t.symbol[i+1]) {
			continue
		}
		letter := leetLetters[t.value[i]]
		if letter == ' ' {
			continue
		}
		t.symbol[i] = letter - 'a' + 1
		t.letters++
		t.digits--
		count++
	}
	return count
}
