package core

// What package bytes would do, without the tables of Unicode that it draws in.

// lower returns c in lower case, ASCII letters only.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Words hold eight bytes, to compare them at once. A constant multiplied by
// ones is in each of them.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// word returns the first eight bytes of s, which the compiler reads at once.
func word(s []byte) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hasLess reports whether a byte of w, all of which are ASCII, is below c.
func hasLess(w uint64, c byte) bool { return (w-ones*uint64(c))&^w&highs != 0 }

// hasByte reports whether a byte of w is c.
func hasByte(w uint64, c byte) bool {
	w ^= ones * uint64(c)
	return (w-ones)&^w&highs != 0
}

// isASCII reports whether every byte of s is ASCII.
func isASCII(s []byte) bool {
	for ; len(s) >= 8; s = s[8:] {
		if word(s)&highs != 0 {
			return false
		}
	}
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// appendLower appends s in lower case, ASCII letters only. dst may begin where
// s does.
func appendLower(dst, s []byte) []byte {
	for _, c := range s {
		dst = append(dst, lower(c))
	}
	return dst
}

func indexByte(s []byte, c byte) int {
	for i := range s {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func count(s []byte, c byte) (n int) {
	for _, b := range s {
		if b == c {
			n++
		}
	}
	return n
}

// hasPrefixFold reports whether s begins with prefix, which is in lower case,
// in any case.
func hasPrefixFold(s []byte, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

// appendWithoutFolds appends s without its CRLFs.
func appendWithoutFolds(dst, s []byte) []byte {
	for _, c := range s {
		if c != '\r' && c != '\n' {
			dst = append(dst, c)
		}
	}
	return dst
}
