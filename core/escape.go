package core

import "unicode/utf8"

const hex = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string (RFC 8259 section 7),
// each character in its shortest form. Bytes that are not UTF-8 become U+FFFD,
// since JSON text must be UTF-8 (section 8.1).
func appendEscaped(dst, s []byte) []byte {
	n := plainLength(s)
	dst = append(dst, s[:n]...)
	if n == len(s) {
		return dst
	}
	return appendEscapedAny(dst, s[n:])
}

// appendEscapedAny does so for text of which little may be plain. It stores
// single bytes in place and copies runs alone: in WebAssembly a call costs more
// than all else that a byte needs.
func appendEscapedAny(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			if n := utf8Length(s[i:]); n > 0 {
				dst, i = append(dst, s[i:i+n]...), i+n
			} else {
				dst, i = append(dst, 0xEF, 0xBF, 0xBD), i+1 // U+FFFD
			}
		case shortEscapes[c] != 0:
			dst, i = append(dst, '\\', shortEscapes[c]), i+1
		case c < ' ':
			dst, i = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15]), i+1
		case i+8 <= len(s) && isPlainWord(word(s[i:])):
			n := plainLength(s[i:])
			dst, i = append(dst, s[i:i+n]...), i+n
		default:
			dst, i = append(dst, c), i+1
		}
	}
	return dst
}

// plainLength returns the length of the start of s that JSON takes as it is.
func plainLength(s []byte) (n int) {
	for n+8 <= len(s) && isPlainWord(word(s[n:])) {
		n += 8
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
}

// isPlain reports whether JSON takes b as it is: qtext, space and DEL.
func isPlain(b byte) bool { return is(b, qtext) || b == ' ' || b == 0x7F }

// isPlainWord reports whether each byte of w is plain.
func isPlainWord(w uint64) bool {
	return w&highs == 0 && !hasLess(w, ' ') && !hasByte(w, '"') && !hasByte(w, '\\')
}

// utf8Length returns the length of the characters beyond ASCII at the start of
// s that are well-formed.
func utf8Length(s []byte) (n int) {
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// shortEscapes holds the letter of the escapes of two characters, 0 for others.
var shortEscapes = [utf8.RuneSelf]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r',
}
