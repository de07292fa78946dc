package core

import (
	"bytes"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// part is a part of an address.
type part uint8

const (
	inLocalPart part = iota
	inDomain
)

// partReasons are the reasons that each part has of its own.
type partReasons struct {
	missing, startsWithDot, endsWithDot, twoDots, space, comment, character Reason
}

var reasonsOf = [...]partReasons{
	inLocalPart: {localPartMissing, localPartStartsWithDot, localPartEndsWithDot, localPartTwoDots,
		localPartSpace, localPartComment, localPartCharacter},
	inDomain: {domainMissing, domainStartsWithDot, domainEndsWithDot, domainTwoDots,
		domainSpace, domainComment, domainCharacter},
}

func (p part) reasons() *partReasons { return &reasonsOf[p] }

// noAtom says why no atom stands at p.at, where one has to.
func (p *parser) noAtom() bool {
	why := p.part.reasons()
	afterDot := p.at > 0 && p.text[p.at-1] == '.'
	switch {
	case p.peek() == '.' && afterDot:
		return p.refuse(why.twoDots, p.at)
	case p.peek() == '.':
		return p.refuse(why.startsWithDot, p.at)
	case p.partEnds() && afterDot:
		return p.refuse(why.endsWithDot, p.at-1)
	case p.partEnds():
		return p.refuse(why.missing, p.at)
	}
	return p.unexpected()
}

// partEnds reports whether nothing but white space is left of the part: up to
// the @ of a local part, to the end of a domain.
func (p *parser) partEnds() bool {
	i := p.at
	for i < len(p.text) && is(p.text[i], wsp) {
		i++
	}
	return i == len(p.text) || p.part == inLocalPart && p.text[i] == '@'
}

// afterPart says why what follows a whole part cannot stand there.
func (p *parser) afterPart() bool {
	why := p.part.reasons()
	switch {
	case p.at == len(p.text):
		return p.refuse(noAt, p.at)
	case p.gap >= 0 && p.isText() && p.text[p.gap] == '(':
		return p.refuse(why.comment, p.gap)
	case p.gap >= 0 && p.isText():
		return p.refuse(why.space, p.gap)
	case p.part == inDomain && p.text[p.domain.start] == '[' && p.peek() != '@':
		return p.refuse(textAfterLiteral, p.at)
	case p.isText() && p.text[p.local.start] == '"' && p.part == inLocalPart:
		return p.afterQuotedString()
	}
	return p.unexpected()
}

// isText reports whether an atom or a quoted string could go on at p.at.
func (p *parser) isText() bool {
	c := p.peek()
	return is(c, atext) || c >= 0x80 || c == '.' || c == '"'
}

// afterQuotedString tells words joined by dots (obs-local-part, RFC 5322
// section 4.4) from text that merely follows the closing quote.
func (p *parser) afterQuotedString() bool {
	if p.peek() == '.' {
		return p.refuse(partlyQuoted, p.at)
	}
	return p.refuse(textAfterQuotedString, p.at)
}

// unexpected says why the octet at p.at cannot stand there.
func (p *parser) unexpected() bool {
	why := p.part.reasons()
	switch c := p.text[p.at]; {
	case c == '\r' || c == '\n':
		fold := p.at
		return p.lineBreak() && p.refuse(why.space, fold)
	case is(c, wsp):
		return p.refuse(why.space, p.at)
	case c < ' ' || c == 0x7F:
		return p.refuse(controlCharacter, p.at)
	case c == '(':
		return p.refuse(why.comment, p.at)
	case c == ')':
		return p.refuse(commentUnopened, p.at)
	case c == '<' || c == '>':
		return p.refuse(angleBracket, p.at)
	case c == '@':
		return p.refuse(secondAt, p.at)
	}
	return p.misplaced(p.text[p.at])
}

// misplaced puts into words where the printable octet c cannot stand.
func (p *parser) misplaced(c byte) bool {
	switch {
	case p.part == inDomain && (c == ',' || c == ';'):
		return p.refuse(severalAddresses, p.at)
	case p.part == inLocalPart && c == '"' && p.at > 0 && p.text[p.at-1] == '.':
		return p.refuse(partlyQuoted, p.at)
	case p.part == inLocalPart && c == '"':
		return p.refuse(quoteInside, p.at)
	}
	return p.refuse(p.part.reasons().character, p.at)
}

// explain replaces a reason that is right in the grammar by the one that
// helps: an address without @ lacks just that, and text before an angle
// bracket is a display name.
func (p *parser) explain() {
	why := p.refusal.Reason
	if p.part == inDomain || why == malformedUTF8 || why == invisibleCharacter || why == bidiControl {
		return
	}
	at := bytes.IndexByte(p.text, '@')
	switch {
	case at < 0 && p.isEmpty():
		p.refuse(empty, 0)
	case at < 0:
		p.refuseWithoutAt()
	case ascii.HasPrefixFold(p.text, "mailto:"): // a URI of RFC 6068
		p.refuse(mailtoPrefix, 0)
	case localPartMissing <= why && why <= quoteInside && why != quotedStringUnclosed:
		if i := bytes.IndexByte(p.text[p.refusal.Offset:], '<'); i >= 0 {
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
