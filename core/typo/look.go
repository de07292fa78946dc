package typo

import (
	"bytes"

	"github.com/addrspec/addrspec/core/idna"
)

//go:generate go run ./genlooks looks_table.go

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
	domain [maxLook]byte
	text   []byte
	at     int  // of the character in the name that may be no letter of it, or -1
	script bool // the name has no letter of ASCII
}

var acePrefix = []byte("xn--")

func isACE(label []byte) bool { return bytes.HasPrefix(label, acePrefix) }

// byLook offers the targets that domain, of which a label is an A-label, looks
// like.
func (x *Index) byLook(best *suggestion, domain []byte) {
	var l look
	if x.root.contains(lastLabel(domain)) && isACE(lastLabel(domain)) || !l.read(domain) {
		return
	}
	name, ending, _ := bytes.Cut(l.text, dot)
	var d typedDomain
	if !x.split(&d, l.text, name, ending) {
		return
	}
	if n := x.called(name); n != nil && (!l.script || len(name) >= shortestScript) {
		x.byEnding(best, &d, n, costAlike, budgetOf(nameBudget[:], len(name)))
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
	l.text, l.at = l.domain[:0], -1
	for first := true; ; first = false {
		label, rest, more := bytes.Cut(domain, dot)
		if !l.add(label, first) {
			return false
		}
		if !more {
			return true
		}
		if l.text, domain = append(l.text, '.'), rest; len(l.text) == maxLook {
			return false
		}
	}
}

// add appends label as it looks. inName is set if it is the name.
func (l *look) add(label []byte, inName bool) bool {
	var array [maxCompared]rune
	if !isACE(label) {
		l.text = append(l.text, label[:min(len(label), maxLook-len(l.text))]...)
		return len(l.text) < maxLook
	}
	decoded, ok := idna.AppendDecoded(array[:0], label)
	if !ok || len(l.text)+len(decoded) >= maxLook {
		return false
	}
	l.script = inName
	for _, r := range decoded {
		if isLetter := r < 0x80 && r >= 'a'; isLetter && inName {
			l.script = false
		}
		b, marked := lookOf(r)
		if inName && r >= 0x80 && !marked {
			l.setStray()
		}
		l.text = append(l.text, b)
	}
	return true
}

// setStray notes that the next character may be no letter of the name. If
// several may be none, the name is not compared.
func (l *look) setStray() {
	const several = -2
	switch l.at {
	case -1:
		l.at = len(l.text)
	default:
		l.at = several
	}
}

// lookOf returns the letter of ASCII that r looks like, or stray, and whether r is
// that letter with marks.
func lookOf(r rune) (b byte, marked bool) {
	if r < 0x80 {
		return byte(r), false
	}
	low, high := 0, len(looks)
	for low < high {
		if middle := (low + high) / 2; rune(looks[middle]>>8) < r {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(looks) || rune(looks[low]>>8) != r {
		return stray, false
	}
	return byte(looks[low] & 0x7F), looks[low]&0x80 != 0
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
