package core

import (
	"bytes"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// refineMistake replaces the reason found by the grammar if the address shows a
// common mistake, whose sentence says what to do. It returns false if it does
// not.
func (p *parser) refineMistake() bool {
	why := p.refusal.Reason
	if open := p.enclosingMark(); open >= 0 {
		p.refuse(enclosed, open)
		return true
	}
	switch {
	case why == severalAddresses && p.isCommaForDot():
		p.refuse(commaForDot, p.refusal.Offset)
	case why == localPartCharacter && p.isBotName():
		p.refuse(botName, p.refusal.Offset)
	case domainMissing <= why && why <= domainComment:
		p.refineAt(domainPlaceholder, p.placeholder())
	case bytes.IndexByte(p.text, '@') < 0:
		p.refineAt(atSpelled, p.spelledAt())
	}
	return p.refusal.Reason != why
}

// refineAt refuses offset, unless it is negative.
func (p *parser) refineAt(why Reason, offset int) {
	if offset >= 0 {
		p.refuse(why, offset)
	}
}

// enclosures are pairs of marks that people copy with an address: the brackets of
// a template, quotation marks, the asterisks of Markdown. Angle brackets have a
// reason of their own.
var enclosures = [...]struct{ open, closing string }{
	{"[", "]"}, {"{", "}"}, {"(", ")"}, {`"`, `"`}, {"'", "'"}, {"`", "`"}, {"`", "'"}, {"*", "*"}, {"|", "|"},
	{"“", "”"}, {"„", "“"}, {"„", "”"}, {"”", "”"}, {"‘", "’"}, {"‚", "‘"}, {"‚", "’"}, {"’", "’"}, {"´", "´"}, {"¨", "¨"},
	{"«", "»"}, {"»", "«"}, {"‹", "›"}, {"›", "‹"}, {"（", "）"}, {"［", "］"}, {"【", "】"}, {"「", "」"}, {"《", "》"},
}

// maxEnclosures is how many pairs around an address are recognized.
const maxEnclosures = 3

// enclosingMark returns the offset of the first mark if the input is an address
// between pairs of marks, else -1.
func (p *parser) enclosingMark() int {
	inside := trimmed(p.text)
	for range maxEnclosures {
		shorter := withoutEnclosure(inside)
		if shorter == nil {
			return -1
		}
		inside = shorter
		if inner := (parser{text: inside}); inner.addrSpec() {
			return len(p.text) - len(bytes.TrimLeft(p.text, " \t\r\n"))
		}
	}
	return -1
}

// withoutEnclosure returns text without the pair of marks around it, or nil.
func withoutEnclosure(text []byte) []byte {
	if len(text) == 0 || is(text[0], letDig) {
		return nil
	}
	for _, e := range &enclosures {
		if n := len(e.open); len(text) > n+len(e.closing) && string(text[:n]) == e.open && bytes.HasSuffix(text, []byte(e.closing)) {
			return text[n : len(text)-len(e.closing)]
		}
	}
	return nil
}

// isCommaForDot reports whether the comma or semicolon at the refused offset was
// meant as a dot of the domain: labels follow, not another address. After a dot
// the rest must be short (co,uk), since a second name may follow a whole domain.
func (p *parser) isCommaForDot() bool {
	before, rest := p.text[p.domain.start:p.refusal.Offset], trimmed(p.text[p.refusal.Offset+1:])
	if len(rest) == 0 || !isLabelEnd(rest[0]) || !isLabelEnd(rest[len(rest)-1]) {
		return false
	}
	for _, c := range rest {
		if !isLabelEnd(c) && c != '-' && c != '.' && c != ',' && c != ';' {
			return false
		}
	}
	return bytes.IndexByte(before, '.') < 0 || len(rest) <= len("com") && is(p.text[p.refusal.Offset+1], letDig)
}

// isLabelEnd reports whether c may be the first or last byte of a label.
func isLabelEnd(c byte) bool { return is(c, letDig) || c >= utf8.RuneSelf }

// isBotName reports whether the refused byte begins "[bot]" at the end of the
// local part, which GitHub writes for the author of a program's commits.
func (p *parser) isBotName() bool {
	return bytes.HasPrefix(p.text[p.refusal.Offset:], []byte("[bot]@"))
}

// placeholder returns the offset of the placeholder for an unknown domain at the
// end of the input, such as git's (none); -1 if there is none.
func (p *parser) placeholder() int {
	text := trimmed(p.text)
	for _, name := range [...]string{"(none)", "(null)", "(unknown)", "(undefined)"} {
		if n := len(text) - len(name); n > 0 && ascii.HasPrefixFold(text[n:], name) {
			return bytes.LastIndexByte(p.text, '(')
		}
	}
	return -1
}

// spelledAt returns the offset of the word "at" between a name and a domain, as
// in "jane at example.com" and "jane[at]example[dot]com"; -1 if there is none.
func (p *parser) spelledAt() int {
	dot := lastDot(p.text)
	for i := 2; i+3 < dot; i++ {
		if p.text[i]|0x20 == 'a' && ascii.HasPrefixFold(p.text[i:], "at") && isAtBorder(p.text[i-1]) && isAtBorder(p.text[i+2]) {
			return i
		}
	}
	return -1
}

// lastDot returns the offset of the last dot, possibly written as a word; -1 if
// there is none.
func lastDot(text []byte) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '.' || text[i]|0x20 == 'd' && ascii.HasPrefixFold(text[i:], "dot") {
			return i
		}
	}
	return -1
}

func isAtBorder(c byte) bool { return bytes.IndexByte([]byte(" \t([{<>}])_"), c) >= 0 }

func trimmed(text []byte) []byte { return trimFWS(text, span{0, len(text)}).of(text) }
