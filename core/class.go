package core

import "github.com/addrspec/addrspec/core/internal/ascii"

// The classes of octets that the productions of RFC 5322 are made of.
const (
	atext  = 1 << iota // RFC 5322 section 3.2.3
	qtext              // RFC 5322 section 3.2.4
	ctext              // RFC 5322 section 3.2.2
	dtext              // RFC 5322 section 3.4.1
	vchar              // RFC 5234 appendix B.1
	wsp                // RFC 5234 appendix B.1
	letDig             // RFC 5321 section 4.1.2: what a label may begin and end with
	hexDig             // RFC 5234 appendix B.1, in either case
)

// lowered holds every octet in lower case, ASCII letters only.
var lowered = makeLowered()

func makeLowered() (t [256]byte) {
	for c := range t {
		t[c] = ascii.Lower(byte(c))
	}
	return t
}

// classes holds the classes of every octet. UTF-8 (RFC 6532 section 3.2) is
// not among them: the parser decodes it.
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

func mark(t *[256]byte, class byte, octets string) {
	for i := range len(octets) {
		t[octets[i]] |= class
	}
}

func unmark(t *[256]byte, class byte, octets string) {
	for i := range len(octets) {
		t[octets[i]] &^= class
	}
}

func is(c, class byte) bool { return classes[c]&class != 0 }
