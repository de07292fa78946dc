package lists

// wordFilter is a set of hashes of the words of roles.txt. It rejects nine of ten words
// that are not listed, such as most names, without a look-up in their table; it rejects
// none that is listed.
type wordFilter [1 << hashBits / 8]byte

const hashBits = 15

// fill adds the role words of l, whose table is verified.
func (f *wordFilter) fill(l *Lists) {
	l.EachWord(func(word []byte, _ Word) {
		i := hash(word)
		f[i>>3] |= 1 << (i & 7)
	})
}

// mayHave returns false if word, which has two bytes or more, is not in the set.
func (f *wordFilter) mayHave(word []byte) bool {
	if len(word) < 2 {
		return false
	}
	i := hash(word)
	return f[i>>3]>>(i&7)&1 != 0
}

// hash hashes the length and four bytes of word: the first two, the middle one and the
// last one.
func hash(word []byte) uint32 {
	n := len(word)
	h := uint32(n) << 20
	h ^= uint32(word[0]) ^ uint32(word[1])<<5 ^ uint32(word[n/2])<<10 ^ uint32(word[n-1])<<15
	return h * 0x9E3779B1 >> (32 - hashBits)
}
