package core

import "unicode/utf8"

// explain replaces a reason that is right in the grammar by the one that
// helps: an address without @ lacks just that, and text before an angle
// bracket is a display name.
func (p *parser) explain() {
	why := p.refusal.Reason
	if p.part == inDomain || why == malformedUTF8 || why == invisibleCharacter || why == bidiControl {
		return
	}
	at := indexByte(p.text, '@')
	switch {
	case at < 0 && p.isEmpty():
		p.refuse(empty, 0)
	case at < 0:
		p.refuseWithoutAt()
	case hasPrefixFold(p.text, "mailto:"): // a URI of RFC 6068
		p.refuse(mailtoPrefix, 0)
	case localPartMissing <= why && why <= quoteInside && why != quotedStringUnclosed:
		if i := indexByte(p.text[p.refusal.Offset:], '<'); i >= 0 {
			p.refuse(angleBracket, p.refusal.Offset+i)
		}
	}
}

// refuseWithoutAt refuses an address without @: at a look-alike of it, or at
// the end.
func (p *parser) refuseWithoutAt() {
	for i := 0; i < len(p.text); {
		r, size := utf8.DecodeRune(p.text[i:])
		if r == 0xFF20 || r == 0xFE6B {
			p.refuse(atLookalike, i)
			return
		}
		i += size
	}
	p.refuse(noAt, len(p.text))
}

func (p *parser) isEmpty() bool {
	for _, c := range p.text {
		if !isFWS(c) {
			return false
		}
	}
	return true
}
