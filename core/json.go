package core

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// Offsets are offsets in the result of AppendJSON, for hosts that do not parse
// it.
type Offsets struct {
	EmailEnd       int // after the closing quote of the value of email
	MX, Disposable Place
}

// Place is where a value begins and ends.
type Place struct{ Start, End int }

// AppendJSON appends the result for f: the 16 fields in the order of the
// contract, with mx null, or false if there is no domain to look up. If fullSuggestion
// is set, typo_suggestion is the whole corrected address instead of its domain.
//
// An append takes a call, the slowest part of it in WebAssembly, so members that
// follow one another without a text are appended together.
func AppendJSON(dst []byte, f *Facts, fullSuggestion bool) (json []byte, at Offsets) {
	dst = appendQuoted(append(dst, `{"email":`...), f.Email)
	at.EmailEnd = len(dst)
	dst = appendNullable(append(dst, withBool(f.Valid, `,"valid":true,"normalized":`, `,"valid":false,"normalized":`)...), f.Normalized)
	dst = appendNullable(append(dst, `,"local_part":`...), f.LocalPart)
	dst = append(dst, withBool(f.Alias, `,"alias":true,"ascii":`, `,"alias":false,"ascii":`)...)
	dst = appendRole(append(dst, withBool(f.ASCII, `true,"role":`, `false,"role":`)...), f.Role)
	dst = append(dst, withBool(f.Gibberish >= Gibberish, `,"gibberish":true,"gibberish_score":`, `,"gibberish":false,"gibberish_score":`)...)
	dst = appendNullable(append(f.Gibberish.append(dst), `,"domain":`...), f.Domain)
	dst = f.appendClasses(dst, &at)
	dst = f.appendSuggestion(append(dst, withBool(f.Typo != nil, `true,"typo_suggestion":`, `false,"typo_suggestion":`)...), fullSuggestion)
	return append(dst, '}'), at
}

func withBool(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// appendClasses appends the members from mx to the name of typo, and sets their places.
// Most domains have no class.
func (f *Facts) appendClasses(dst []byte, at *Offsets) []byte {
	at.MX.Start = len(dst) + len(`,"mx":`)
	at.MX.End = at.MX.Start + len(withBool(len(f.Host) > 0, "null", "false"))
	at.Disposable.Start = at.MX.End + len(`,"disposable":`)
	at.Disposable.End = at.Disposable.Start + len(withBool(f.Disposable, "true", "false"))
	if !f.Disposable && !f.Public && !f.Relay {
		return append(dst, withBool(len(f.Host) > 0, `,"mx":null`+noClass, `,"mx":false`+noClass)...)
	}
	dst = append(dst, withBool(len(f.Host) > 0, `,"mx":null,"disposable":`, `,"mx":false,"disposable":`)...)
	dst = appendBool(dst, f.Disposable)
	dst = appendBool(append(dst, `,"public":`...), f.Public)
	dst = appendBool(append(dst, `,"relay":`...), f.Relay)
	return append(dst, `,"typo":`...)
}

// noClass has the members of a domain without a class.
const noClass = `,"disposable":false,"public":false,"relay":false,"typo":`

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
	if n := plainLength(s); n < len(s) {
		return append(appendEscapedAny(append(append(dst, '"'), s[:n]...), s[n:]), '"')
	}
	return append(append(append(dst, '"'), s...), '"')
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

// plainLength returns the length of the prefix of s that needs no escapes. The last word
// may overlap the one before it.
func plainLength(s []byte) (n int) {
	for n+8 <= len(s) && isPlainWord(ascii.Word(s[n:])) {
		n += 8
	}
	if len(s) >= 8 && n+8 > len(s) && isPlainWord(ascii.Word(s[len(s)-8:])) {
		return len(s)
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
}

// isPlain reports whether b needs no escape: qtext, space and DEL.
func isPlain(b byte) bool { return is(b, qtext) || b == ' ' || b == 0x7F }

func isPlainWord(w uint64) bool {
	return ascii.IsWord(w) && !ascii.HasLess(w, ' ') && !ascii.HasByte(w, '"') && !ascii.HasByte(w, '\\')
}

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
