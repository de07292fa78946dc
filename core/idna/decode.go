package idna

// AppendDecoded appends the characters of an A-label, in lower case, to dst. It
// returns false if label is none, or has more characters than dst has room for.
// It does not check that they are allowed.
func AppendDecoded(dst []rune, label []byte) ([]rune, bool) {
	if !isACE(label) || len(label)-len(acePrefix) > cap(dst) {
		return nil, false
	}
	return appendDecoded(dst, label[len(acePrefix):])
}
