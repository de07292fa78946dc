// Package filter has a Bloom filter: a set of words in little memory. A word that is not
// in the set looks as if it were with a small probability.
package filter

// A word sets a few bits, which parts of its hash number.
const (
	bits = 3
	log  = 18             // the filter has 2^log bits
	Size = 1 << (log - 3) // bytes
)

// A Filter has Size bytes.
type Filter string

// Has reports whether f has word.
func (f Filter) Has(word []byte) bool {
	h := hash(word)
	for range bits {
		at := h & (1<<log - 1)
		if f[at/8]>>(at%8)&1 == 0 {
			return false
		}
		h >>= log
	}
	return true
}

// New returns a filter that has words.
func New(words []string) Filter {
	f := make([]byte, Size)
	for _, word := range words {
		h := hash([]byte(word))
		for range bits {
			at := h & (1<<log - 1)
			f[at/8] |= 1 << (at % 8)
			h >>= log
		}
	}
	return Filter(f)
}

// hash returns FNV-1a with the high bits folded into the low ones: without, the low bits
// do not depend on the high bits of letters.
func hash(word []byte) uint64 {
	h := uint64(0xCBF29CE484222325)
	for _, b := range word {
		h = (h ^ uint64(b)) * 0x100000001B3
	}
	return h ^ h>>32
}
