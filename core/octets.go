package core

// What package bytes would do, without the tables of Unicode that it draws in.

// lower returns c in lower case, ASCII letters only.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// isASCII reports whether every octet of s is ASCII; it looks at eight at a time.
func isASCII(s []byte) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
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
