package typo

import (
	"bytes"
	_ "embed"
	"slices"

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
	noStray        = -1
	strays         = -2 // several, so the name is not compared
)

var acePrefix = []byte("xn--")

func isACE(label []byte) bool { return startsWith(label, acePrefix) }

// byLook offers the targets that domain, of which a label is an A-label, looks like.
func (x *Index) byLook(best *suggestion, domain []byte) {
	if tld := lastLabel(domain); isACE(tld) && x.root.contains(tld) {
		return
	}
	var array [maxLook]byte
	l, ok := readLook(array[:0], domain)
	if !ok {
		return
	}
	var d typedDomain
	d.text = l.text
	d.name, d.ending, d.tld = split(d.text)
	if !x.classify(&d) {
		return
	}
	if n := x.called(d.name); n != nil && (!l.script || len(d.name) >= shortestScript) {
		x.byEnding(best, &d, n, costAlike, budgetOf(nameBudget[:], len(d.name)))
	}
	if best.cost < farApart || l.at < 0 || l.script || len(d.name) < shortestTyped+1 || len(d.name) > maxCompared {
		return
	}
	// The targets whose name is that of d with another letter for the stray one, or without it.
	before, after := d.name[:l.at], d.name[l.at+1:]
	first, _ := x.ofLength(len(d.name) - 1)
	_, last := x.ofLength(len(d.name))
	for i := first; i < last; i++ {
		n := &x.names[i]
		text, cost := x.text(n), costStray
		if len(text) == len(d.name) {
			cost = costExchange
		}
		if bytes.HasPrefix(text, before) && bytes.HasSuffix(text, after) {
			x.byEnding(best, &d, n, cost, budgetOf(nameBudget[:], len(text)))
		}
	}
}

// look is a domain as it looks, with one byte for each of its characters.
type look struct {
	text   []byte
	at     int  // of the character in the name that may be no letter of it, or noStray or strays
	script bool // the name has no letter of ASCII
}

// readLook returns domain as it looks, with its text in dst, and false if it is too long.
func readLook(dst []byte, domain []byte) (l look, ok bool) {
	l = look{text: dst, at: noStray}
	for inName := true; ; inName = false {
		label, rest, more := bytes.Cut(domain, dot)
		var decoded []rune
		if isACE(label) {
			var array [maxCompared]rune
			decoded, ok = idna.AppendDecoded(array[:0], label)
			if !ok {
				return l, false
			}
			label = nil
			l.script = l.script || inName && !slices.ContainsFunc(decoded, isLetter)
		}
		if len(l.text)+len(label)+len(decoded) > maxLook {
			return l, false
		}
		l.text = append(l.text, label...)
		for _, r := range decoded {
			b, marked := lookOf(r)
			switch {
			case !inName || r < 0x80 || marked:
			case l.at == noStray:
				l.at = len(l.text)
			default:
				l.at = strays
			}
			l.text = append(l.text, b)
		}
		if !more || len(l.text) == maxLook {
			return l, !more
		}
		l.text = append(l.text, '.')
		domain = rest
	}
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' }

// looks has the number of the block of each 64 characters up to looksEnd, and the blocks. They have a byte for each
// character: the letter of ASCII that it looks like, and bit 7 if the character is that letter with marks; or 0.
// core/idna/gentables generates it.
//
//go:embed looks.bin
var looks string

const looksEnd = 0x1D240

// lookOf returns the letter of ASCII that r looks like, or stray.
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

// byASCIILook offers yahoo for yah00, gmail for grnail.
func (x *Index) byASCIILook(best *suggestion, d *typedDomain) {
	if len(d.name) < shortestTyped || len(d.name) > maxCompared {
		return
	}
	if d.letters&lookingDigits == 0 && (d.letters&rnSymbols != rnSymbols || !bytes.Contains(d.name, rn)) {
		return
	}
	var array [maxCompared]byte
	text := array[:0]
	for i, b := range d.name {
		switch {
		case b == '0':
			b = 'o'
		case b == '1':
			b = 'l'
		case b == 'r' && i+1 < len(d.name) && d.name[i+1] == 'n':
			b = 'm'
		case b == 'n' && i > 0 && d.name[i-1] == 'r':
			continue
		}
		text = append(text, b)
	}
	x.byExactName(best, d, text, costAlike)
}
