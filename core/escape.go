package core

import "unicode/utf8"

const hex = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string (RFC 8259 section 7),
// each character in its shortest form. Bytes that are not UTF-8 become U+FFFD,
// since JSON text must be UTF-8 (section 8.1).
func appendEscaped(dst, s []byte) []byte {
	plain := 0 // start of the run not yet copied
	for i := 0; i < len(s); {
		if isPlain(s[i]) {
			i++
			continue
		}
		dst = append(dst, s[plain:i]...)
		var size int
		dst, size = appendOddity(dst, s[i:])
		i += size
		plain = i
	}
	return append(dst, s[plain:]...)
}

// isPlain reports whether b stands for itself in a JSON string: what does in
// a quoted string (qtext), space and DEL.
func isPlain(b byte) bool { return is(b, qtext) || b == ' ' || b == 0x7f }

// appendOddity appends the first character of s, which is not plain, and
// returns how many bytes of s it took.
func appendOddity(dst, s []byte) ([]byte, int) {
	if s[0] < utf8.RuneSelf {
		return appendControl(dst, s[0]), 1
	}
	r, size := utf8.DecodeRune(s)
	return utf8.AppendRune(dst, r), size // RuneError is U+FFFD
}

func appendControl(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
