package core

import "github.com/addrspec/addrspec/core/internal/ascii"

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
// others to 0, so that one look-up does both.
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

// is reports whether c is in one of the classes.
func is(c, class byte) bool { return classes[c]&class != 0 }
