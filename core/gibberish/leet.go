package gibberish

// leetLetters are the letters that digits 0 to 9 stand for between letters.
const leetLetters = "oizeasgtbg"

// unleet reads digits that touch a letter on their right, or stand between
// letters, as the letters they look like, and returns how many there were. A
// run of digits that ends the name is a number and stays.
func (t *text) unleet() int {
	count := 0
	for i := t.n - 2; i >= 0; i-- {
		if t.symbol[i] != digit || t.symbol[i+1] == edge || t.symbol[i+1] == digit {
			continue
		}
		t.symbol[i] = leetLetters[t.value[i]] - 'a' + 1
		t.letters++
		t.digits--
		count++
	}
	return count
}
