package typo

import (
	"bytes"
	_ "embed"

	"github.com/addrspec/addrspec/core/idna"
)

// A domain with characters beyond ASCII is read as it looks: gmаil.com with a
// Cyrillic а as gmail.com. Then its name must be that of a target, but for one
// stray character. A name in one other script is a word of its own, unless all of
// a long one looks like a target's: without a letter of ASCII nothing speaks for
// a slip.

const (
	stray          = '*' // a character beyond ASCII that looks like no letter
	shortestScript = 5   // length of the shortest name all in another script
	maxLook        = 2*maxCompared + 1
)

// look is a domain as it looks. Each of its characters has one byte in text.
type look struct {
	text   [maxLook]byte
	size   int
	at     int  // of the character in the name that may be no letter of it, or noStray or strays
	script bool // the name has no letter of ASCII
}

const (
	noStray = -1
	strays  = -2 // several, so the name is not compared
)

var acePrefix = []byte("xn--")

func isACE(label []byte) bool { return startsWith(label, acePrefix) }

// byLook offers the targets that domain, of which a label is an A-label, looks
// like.
func (x *Index) byLook(best *suggestion, domain []byte) {
	if tld := lastLabel(domain); isACE(tld) && x.root.contains(tld) {
		return
	}
	l := look{at: noStray}
	if !l.read(domain) {
		return
	}
	var d typedDomain
	d.text = l.text[:l.size]
	d.name, d.ending, _ = bytes.Cut(d.text, dot)
	d.tld = lastLabel(d.ending)
	if !x.classify(&d) {
		return
	}
	if n := x.called(d.name); n != nil && (!l.script || len(d.name) >= shortestScript) {
		x.byEnding(best, &d, n, costAlike, budgetOf(nameBudget[:], len(d.name)))
	}
	if best.cost == farApart && l.at >= 0 && !l.script {
		x.byStray(best, &d, l.at)
	}
}

// byStray offers the targets whose name is that of d with another letter at i, or
// without the one at i.
func (x *Index) byStray(best *suggestion, d *typedDomain, i int) {
	if len(d.name) < shortestTyped+1 || len(d.name) > maxCompared {
		return
	}
	before, after := d.name[:i], d.name[i+1:]
	first, _ := x.ofLength(len(d.name) - 1)
	_, last := x.ofLength(len(d.name))
	for j := first; j < last; j++ {
		n := &x.names[j]
		text := x.text(n)
		if !bytes.HasPrefix(text, before) || !bytes.HasSuffix(text, after) {
			continue
		}
		cost := costStray
		if len(text) == len(d.name) {
			cost = costExchange
		}
		x.byEnding(best, d, n, cost, budgetOf(nameBudget[:], len(text)))
	}
}

// read sets l to domain as it looks. It returns false if domain is too long.
func (l *look) read(domain []byte) bool {
	for inName := true; ; inName = false {
		label, rest, more := bytes.Cut(domain, dot)
		switch {
		case !l.readLabel(label, inName):
			return false
		case !more:
			return true
		case !l.add('.'):
			return false
		}
		domain = rest
	}
}

// readLabel adds label as it looks. inName is set if it is the name.
func (l *look) readLabel(label []byte, inName bool) bool {
	if !isACE(label) {
		for _, b := range label {
			if !l.add(b) {
				return false
			}
		}
		return true
	}
	var array [maxCompared]rune
	decoded, ok := idna.AppendDecoded(array[:0], label)
	l.script = l.script || inName && !hasLetter(decoded)
	for _, r := range decoded {
		b, marked := lookOf(r)
		if inName && r >= 0x80 && !marked {
			l.setStray()
		}
		ok = ok && l.add(b)
	}
	return ok
}

// hasLetter reports whether label has a letter of ASCII.
func hasLetter(label []rune) bool {
	for _, r := range label {
		if 'a' <= r && r <= 'z' {
			return true
		}
	}
	return false
}

// add returns false if l is full.
func (l *look) add(b byte) bool {
	if l.size == maxLook {
		return false
	}
	l.text[l.size] = b
	l.size++
	return true
}

// setStray notes that the next character may be no letter of the name.
func (l *look) setStray() {
	if l.at == noStray {
		l.at = l.size
	} else {
		l.at = strays
	}
}

// looks has the number of the block of each 64 characters up to looksEnd, and the blocks. They have a byte for each
// character: the letter of ASCII that it looks like, and bit 7 if the character is that letter with marks; or 0.
// core/idna/gentables generates it.
//
//go:embed looks.bin
var looks string

const looksEnd = 0x1D240

// lookOf returns the letter of ASCII that r looks like, or stray, and whether r is
// that letter with marks.
func lookOf(r rune) (b byte, marked bool) {
	if r < 0x80 {
		return byte(r), false
	}
	if r >= looksEnd {
		return stray, false
	}
	b = looks[looksEnd>>6+int(looks[r>>6])<<6+int(r&63)]
	if b == 0 {
		return stray, false
	}
	return b & 0x7F, b&0x80 != 0
}

// The digits that look like letters (UTS #39), and rn for m.
const lookingDigits = uint64(1)<<26 | uint64(1)<<27 // 0 and 1

var (
	rn        = []byte("rn")
	rnSymbols = symbolSet(rn)
)

// byASCIILook offers the targets that the name of d looks like although each of its
// characters is ASCII: yah00 for yahoo, grnail for gmail.
func (x *Index) byASCIILook(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped || len(d.name) > maxCompared {
		return
	}
	if d.letters&lookingDigits == 0 && (d.letters&rnSymbols != rnSymbols || !bytes.Contains(d.name, rn)) {
		return
	}
	var text [maxCompared]byte
	x.byExactName(best, d, asLetters(text[:0], d.name), costAlike)
}

// asLetters appends name to dst with the letters that its digits look like, and m
// for rn.
func asLetters(dst, name []byte) []byte {
	for i, b := range name {
		switch {
		case b == '0':
			b = 'o'
		case b == '1':
			b = 'l'
		case b == 'r' && i+1 < len(name) && name[i+1] == 'n':
			b = 'm'
		case b == 'n' && i > 0 && name[i-1] == 'r':
			continue
		}
		dst = append(dst, b)
	}
	return dst
}
