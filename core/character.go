package core

import (
	"sort"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// The classes of bytes in the productions of RFC 5322.
const (
	atext  = 1 << iota // RFC 5322 section 3.2.3
	qtext              // RFC 5322 section 3.2.4
	ctext              // RFC 5322 section 3.2.2
	dtext              // RFC 5322 section 3.4.1
	vchar              // RFC 5234 appendix B.1
	wsp                // RFC 5234 appendix B.1
	letDig             // RFC 5321 section 4.1.2: allowed at both ends of a label
	hexDig             // RFC 5234 appendix B.1, in either case
)

// classes maps every byte to its classes. Bytes from 0x80 have none: the parser
// decodes UTF-8 (RFC 6532 section 3.2).
var classes = makeClasses()

func makeClasses() (t [256]byte) {
	for c := '!'; c <= '~'; c++ {
		t[c] = vchar | qtext | ctext | dtext
	}
	mark(&t, wsp, " \t")
	mark(&t, letDig|atext, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	mark(&t, atext, "!#$%&'*+-/=?^_`{|}~")
	mark(&t, hexDig, "0123456789abcdefABCDEF")
	unmark(&t, qtext, `"\`)
	unmark(&t, ctext, `()\`)
	unmark(&t, dtext, `[]\`)
	return t
}

// loweredAtext and loweredLetDig map the bytes of their class to lower case, and all
// others to 0, so that one lookup does both.
var (
	loweredAtext  = makeLowered(atext)
	loweredLetDig = makeLowered(letDig)
)

func makeLowered(class byte) (t [256]byte) {
	for c := range t {
		if is(byte(c), class) {
			t[c] = ascii.Lower(byte(c))
		}
	}
	return t
}

func mark(t *[256]byte, class byte, members string) {
	for i := range len(members) {
		t[members[i]] |= class
	}
}

func unmark(t *[256]byte, class byte, members string) {
	for i := range len(members) {
		t[members[i]] &^= class
	}
}

func is(c, class byte) bool { return classes[c]&class != 0 }

// hiddenRange is a range of characters that are refused because they are
// invisible: with them two addresses look the same. Only the joiners are allowed
// in a local part and a label, where the characters beside them make them visible. Variation
// selectors are not included: they change how a visible character looks.
type hiddenRange struct {
	first, last rune
	why         Reason
	name        string
}

// hiddenRanges lists the controls, the line separators and the default
// ignorable characters of Unicode, sorted.
var hiddenRanges = [...]hiddenRange{
	{0x00, 0x00, controlCharacter, "null"},
	{0x01, 0x07, controlCharacter, ""},
	{0x08, 0x08, controlCharacter, "backspace"},
	{0x09, 0x09, controlCharacter, "tab"},
	{0x0A, 0x0A, controlCharacter, "line feed"},
	{0x0B, 0x0C, controlCharacter, ""},
	{0x0D, 0x0D, controlCharacter, "carriage return"},
	{0x0E, 0x1A, controlCharacter, ""},
	{0x1B, 0x1B, controlCharacter, "escape"},
	{0x1C, 0x1F, controlCharacter, ""},
	{0x7F, 0x7F, controlCharacter, "delete"},
	{0x80, 0x9F, controlCharacter, ""},
	{0xAD, 0xAD, invisibleCharacter, "soft hyphen"},
	{0x34F, 0x34F, invisibleCharacter, "combining grapheme joiner"},
	{0x61C, 0x61C, bidiControl, "Arabic letter mark"},
	{0x115F, 0x1160, invisibleCharacter, "Hangul filler"},
	{0x17B4, 0x17B5, invisibleCharacter, "Khmer inherent vowel"},
	{0x180E, 0x180E, invisibleCharacter, "Mongolian vowel separator"},
	{0x200B, 0x200B, invisibleCharacter, "zero width space"},
	{0x200C, 0x200C, invisibleCharacter, "zero width non-joiner"},
	{0x200D, 0x200D, invisibleCharacter, "zero width joiner"},
	{0x200E, 0x200E, bidiControl, "left-to-right mark"},
	{0x200F, 0x200F, bidiControl, "right-to-left mark"},
	{0x2028, 0x2028, controlCharacter, "line separator"},
	{0x2029, 0x2029, controlCharacter, "paragraph separator"},
	{0x202A, 0x202A, bidiControl, "left-to-right embedding"},
	{0x202B, 0x202B, bidiControl, "right-to-left embedding"},
	{0x202C, 0x202C, bidiControl, "pop directional formatting"},
	{0x202D, 0x202D, bidiControl, "left-to-right override"},
	{0x202E, 0x202E, bidiControl, "right-to-left override"},
	{0x2060, 0x2060, invisibleCharacter, "word joiner"},
	{0x2061, 0x2065, invisibleCharacter, "invisible operator"},
	{0x2066, 0x2066, bidiControl, "left-to-right isolate"},
	{0x2067, 0x2067, bidiControl, "right-to-left isolate"},
	{0x2068, 0x2068, bidiControl, "first strong isolate"},
	{0x2069, 0x2069, bidiControl, "pop directional isolate"},
	{0x206A, 0x206F, invisibleCharacter, "deprecated format character"},
	{0x3164, 0x3164, invisibleCharacter, "Hangul filler"},
	{0xFEFF, 0xFEFF, invisibleCharacter, "zero width no-break space"},
	{0xFFA0, 0xFFA0, invisibleCharacter, "halfwidth Hangul filler"},
	{0xFFF0, 0xFFFB, invisibleCharacter, "annotation character"},
	{0x1BCA0, 0x1BCA3, invisibleCharacter, "shorthand format control"},
	{0x1D173, 0x1D17A, invisibleCharacter, "musical format control"},
	{0xE0000, 0xE00FF, invisibleCharacter, "tag character"},
	{0xE01F0, 0xE0FFF, invisibleCharacter, "tag character"},
}

// No character from lettersFirst up to lettersEnd is hidden: Latin letters with marks
// need no search.
const lettersFirst, lettersEnd = 0xAE, 0x34F

// hidden returns the reason to refuse r, or Accepted. See parser.utf8NonASCII
// for the joiners.
func hidden(r rune) Reason {
	if h := findHidden(r); h != nil {
		return h.why
	}
	return Accepted
}

func findHidden(r rune) *hiddenRange {
	if lettersFirst <= r && r < lettersEnd {
		return nil
	}
	i := sort.Search(len(hiddenRanges), func(i int) bool { return hiddenRanges[i].last >= r })
	if i < len(hiddenRanges) && hiddenRanges[i].first <= r {
		return &hiddenRanges[i]
	}
	return nil
}

// isBlank reports whether r is a space beyond ASCII (general category Zs).
func isBlank(r rune) bool {
	switch r {
	case 0xA0, 0x1680, 0x202F, 0x205F, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}

// appendCharacter appends a description of the first character of s. It names
// invisible characters and those that could disturb a terminal by code point
// instead of repeating them.
func appendCharacter(dst, s []byte) []byte {
	r, size := utf8.DecodeRune(s)
	switch {
	case size == 0:
		return appendText(dst, "nothing")
	case r == utf8.RuneError && size == 1:
		return append(dst, 'b', 'y', 't', 'e', ' ', '0', 'x', upperHex[s[0]>>4], upperHex[s[0]&15])
	case r == ' ':
		return appendText(dst, "a space")
	case r == '"':
		return appendText(dst, "a double quote")
	case r > ' ' && r < 0x7F:
		return append(dst, '"', byte(r), '"')
	case hidden(r) == Accepted && !isBlank(r) && !idna.IsMark(r):
		dst = append(append(append(dst, '"'), s[:size]...), '"', ' ', '(')
		return append(appendCodePoint(dst, r), ')')
	}
	dst = appendCodePoint(dst, r)
	if name := nameOf(r); name != "" {
		dst = appendText(append(dst, ' '), name)
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

func appendCodePoint(dst []byte, r rune) []byte {
	dst = append(dst, 'U', '+')
	for shift := 20; shift >= 0; shift -= 4 {
		if r>>shift != 0 || shift < 16 {
			dst = append(dst, upperHex[r>>shift&15])
		}
	}
	return dst
}

// nameOf returns the name of a hidden character or space; "" if it has none here.
func nameOf(r rune) string {
	switch h := findHidden(r); {
	case h != nil:
		return h.name
	case r == 0xA0:
		return "no-break space"
	case r == 0x3000:
		return "ideographic space"
	case isBlank(r):
		return "space"
	}
	return ""
}
