package core

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// Offsets are offsets in the result of AppendJSON, for hosts that do not parse
// it.
type Offsets struct {
	EmailEnd int // after the closing quote of the value of email
	MX       int // of the value of mx
}

// AppendJSON appends the result for f: the 16 fields in the order of the
// contract, with mx false. If fullSuggestion is set, typo_suggestion is the
// whole corrected address instead of its domain.
func AppendJSON(dst []byte, f *Facts, fullSuggestion bool) (json []byte, at Offsets) {
	dst = append(dst, `{"email":`...)
	dst = appendQuoted(dst, f.Email)
	at.EmailEnd = len(dst)
	dst = appendBool(append(dst, `,"valid":`...), f.Valid)
	dst = appendNullable(append(dst, `,"normalized":`...), f.Normalized)
	dst = appendNullable(append(dst, `,"local_part":`...), f.LocalPart)
	dst = appendBool(append(dst, `,"alias":`...), f.Alias)
	dst = appendBool(append(dst, `,"ascii":`...), f.ASCII)
	dst = appendRole(append(dst, `,"role":`...), f.Role)
	dst = appendBool(append(dst, `,"gibberish":`...), f.Gibberish >= Gibberish)
	dst = f.Gibberish.append(append(dst, `,"gibberish_score":`...))
	dst = appendNullable(append(dst, `,"domain":`...), f.Domain)
	dst = append(dst, `,"mx":`...)
	at.MX = len(dst)
	dst = appendBool(append(dst, `false,"disposable":`...), f.Disposable)
	dst = appendBool(append(dst, `,"public":`...), f.Public)
	dst = appendBool(append(dst, `,"relay":`...), f.Relay)
	dst = appendBool(append(dst, `,"typo":`...), f.Typo != nil)
	dst = f.appendSuggestion(append(dst, `,"typo_suggestion":`...), fullSuggestion)
	return append(dst, '}'), at
}

func (f *Facts) appendSuggestion(dst []byte, full bool) []byte {
	if f.Typo == nil || !full {
		return appendNullable(dst, f.Typo)
	}
	dst = appendEscaped(append(dst, '"'), f.LocalPart)
	dst = appendEscaped(append(dst, '@'), f.Typo)
	return append(dst, '"')
}

// append appends the score as JSON.stringify writes it: 0, 0.5, 0.97, 1.
func (s Score) append(dst []byte) []byte {
	if s >= 100 {
		return append(dst, '1')
	}
	if s == 0 {
		return append(dst, '0')
	}
	dst = append(dst, '0', '.', '0'+byte(s/10))
	if s%10 == 0 {
		return dst
	}
	return append(dst, '0'+byte(s%10))
}

// appendBool appends single bytes, which the compiler stores in place. A string
// would take a call to memmove, the slowest part of a short append in
// WebAssembly.
func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 't', 'r', 'u', 'e')
	}
	return append(dst, 'f', 'a', 'l', 's', 'e')
}

// appendRole appends the name of r, or null. No name has characters to escape.
func appendRole(dst []byte, r Role) []byte {
	if r == NoRole {
		return append(dst, 'n', 'u', 'l', 'l')
	}
	dst = append(append(dst, '"'), r.String()...)
	return append(dst, '"')
}

func appendNullable(dst, s []byte) []byte {
	if s == nil {
		return append(dst, 'n', 'u', 'l', 'l')
	}
	return appendQuoted(dst, s)
}

func appendQuoted(dst, s []byte) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

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

// appendEscapedAny is appendEscaped for text with few plain bytes. It stores
// single bytes in place and copies only runs: in WebAssembly a call costs more
// than everything else done for a byte.
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
		case i+8 <= len(s) && isPlainWord(ascii.Word(s[i:])):
			n := plainLength(s[i:])
			dst, i = append(dst, s[i:i+n]...), i+n
		default:
			dst, i = append(dst, c), i+1
		}
	}
	return dst
}

// plainLength returns the length of the prefix of s that needs no escapes.
func plainLength(s []byte) (n int) {
	for n+8 <= len(s) && isPlainWord(ascii.Word(s[n:])) {
		n += 8
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
}

// isPlain reports whether b needs no escape: qtext, space and DEL.
func isPlain(b byte) bool { return is(b, qtext) || b == ' ' || b == 0x7F }

// isPlainWord reports whether each byte of w is plain.
func isPlainWord(w uint64) bool {
	return ascii.IsWord(w) && !ascii.HasLess(w, ' ') && !ascii.HasByte(w, '"') && !ascii.HasByte(w, '\\')
}

// utf8Length returns the length of the well-formed characters beyond ASCII at
// the start of s.
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

// shortEscapes maps a byte to the second character of its two-character escape;
// 0 if it has none.
var shortEscapes = [utf8.RuneSelf]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r',
}
