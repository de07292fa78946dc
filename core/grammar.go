package core

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
)

// parser recognizes addr-spec (RFC 5322 section 3.4.1 without the obsolete
// syntax of section 4), internationalized by RFC 6532 section 3.2. It reads the
// address once, from left to right. Each production has a method of its name,
// which returns false if it refused the address. The parser only locates the
// parts; it checks no lengths, labels or address literals.
type parser struct {
	text    []byte // the input
	at      int    // offset of the next byte
	part    part   // the part being read
	gap     int    // offset of the last CFWS; -1 if it was empty
	refusal Refusal
	remarks bool // a comment was read
	joiners bool // a joiner was read in the local part

	local  span // without CFWS, with quotes
	domain span // without CFWS, with brackets
}

// span is a range of offsets; end is exclusive.
type span struct{ start, end int }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

// addrSpec = local-part "@" domain
func (p *parser) addrSpec() bool {
	if !p.localPart() {
		return false
	}
	if p.peek() != '@' {
		return p.refuseAfterPart()
	}
	p.at++
	return p.domainPart() && p.end()
}

// local-part = dot-atom / quoted-string / obs-local-part; the last is refused.
func (p *parser) localPart() bool {
	p.part = inLocalPart
	if !p.cfws() {
		return false
	}
	p.local.start = p.at
	word := p.dotAtomText
	if p.peek() == '"' {
		word = p.quotedString
	}
	ok := word()
	p.local.end = p.at
	return ok && p.cfws()
}

// domain = dot-atom / domain-literal / obs-domain; the last is refused.
func (p *parser) domainPart() bool {
	p.part = inDomain
	if !p.cfws() {
		return false
	}
	p.domain.start = p.at
	word := p.dotAtomText
	if p.peek() == '[' {
		word = p.domainLiteral
	}
	ok := word()
	p.domain.end = p.at
	return ok && p.cfws()
}

func (p *parser) end() bool { return p.at == len(p.text) || p.refuseAfterPart() }

// dot-atom-text = 1*atext *("." 1*atext) (RFC 5322 section 3.2.3)
func (p *parser) dotAtomText() bool {
	for {
		if !p.atom() {
			return false
		}
		if p.peek() != '.' {
			return true
		}
		p.at++
	}
}

// atom = 1*atext. A domain allows letters, digits and hyphens only, as host
// names do (RFC 5321 section 4.1.2, sub-domain).
func (p *parser) atom() bool {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case is(c, letDig) || c == '-' || p.part == inLocalPart && is(c, atext):
			p.at++
		case c >= 0x80 && !p.utf8NonASCII(atext):
			return false
		case c < 0x80:
			return p.at > start || p.refuseMissingAtom()
		}
	}
	return p.at > start || p.refuseMissingAtom()
}

// peek returns the next byte, 0 at the end. No production contains NUL, so only
// the choice of a reason has to distinguish the two.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) refuse(why Reason, offset int) bool {
	p.refusal = Refusal{Reason: why, Offset: offset}
	return false
}

// CFWS = (1*([FWS] comment) [FWS]) / FWS (RFC 5322 section 3.2.2). It may be
// empty, since every production that uses it makes it optional.
func (p *parser) cfws() bool {
	start := p.at
	for {
		if !p.fws() {
			return false
		}
		if p.peek() != '(' {
			break
		}
		if !p.comment() {
			return false
		}
	}
	p.gap = -1
	if p.at > start {
		p.gap = start
	}
	return true
}

// FWS = [*WSP CRLF] 1*WSP (RFC 5322 section 3.2.2). It may be empty; a second
// fold in a run of white space is obs-FWS (section 4.2).
func (p *parser) fws() bool {
	for folds := 0; ; folds++ {
		for p.at < len(p.text) && is(p.text[p.at], wsp) {
			p.at++
		}
		fold := p.at
		if c := p.peek(); c != '\r' && c != '\n' {
			return true
		}
		if !p.lineBreak() {
			return false
		}
		if folds > 0 {
			return p.refuse(secondFold, fold)
		}
	}
}

// lineBreak reads a CRLF that folds: white space must follow it.
func (p *parser) lineBreak() bool {
	rest := p.text[p.at:]
	switch {
	case rest[0] == '\n':
		return p.refuse(bareLF, p.at)
	case len(rest) < 2 || rest[1] != '\n':
		return p.refuse(bareCR, p.at)
	case len(rest) < 3 || !is(rest[2], wsp):
		return p.refuse(lineBreakAlone, p.at)
	}
	p.at += 2
	return true
}

// UTF8-non-ascii (RFC 6532 section 3.1): one well-formed character that is
// neither a control nor invisible, in text of class. Like a space, a blank needs
// delimiters. The joiners are allowed here, outside comments and brackets;
// setLocalPart and package idna check what is beside them.
func (p *parser) utf8NonASCII(class byte) bool {
	r, size := utf8.DecodeRune(p.text[p.at:])
	if r == utf8.RuneError && size == 1 {
		return p.refuse(malformedUTF8, p.at)
	}
	if why := hidden(r); why != Accepted {
		if !idna.IsJoiner(r) || class&(atext|qtext) == 0 {
			return p.refuse(why, p.at)
		}
		p.joiners = p.joiners || p.part == inLocalPart
	}
	if class == atext && isBlank(r) {
		return p.refuse(p.part.reasons().space, p.at)
	}
	p.at += size
	return true
}

// quoted-string = DQUOTE *([FWS] qcontent) [FWS] DQUOTE, without the CFWS
// around it (RFC 5322 section 3.2.4)
func (p *parser) quotedString() bool {
	open := p.at
	p.at++
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '"' {
			p.at++
			return true
		}
		if !p.content(c, qtext) {
			return false
		}
	}
	return p.refuse(quotedStringUnclosed, open)
}

// comment = "(" *([FWS] ccontent) [FWS] ")", where ccontent may be a comment
// (RFC 5322 section 3.2.2). It counts the nesting instead of recursing, so depth
// needs no stack.
func (p *parser) comment() bool {
	open := p.at
	for depth := 0; p.at < len(p.text); {
		c := p.text[p.at]
		switch c {
		case '(':
			depth++
			p.at++
		case ')':
			depth--
			p.at++
		default:
			if !p.content(c, ctext) {
				return false
			}
		}
		if depth == 0 {
			p.remarks = true
			return true
		}
	}
	return p.refuse(commentUnclosed, open)
}

// domain-literal = "[" *([FWS] dtext) [FWS] "]", without the CFWS around it
// (RFC 5322 section 3.4.1)
func (p *parser) domainLiteral() bool {
	open := p.at
	p.at++
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == ']':
			p.at++
			return true
		case c == '[' || c == '\\':
			return p.refuse(literalCharacter, p.at)
		case !p.content(c, dtext):
			return false
		}
	}
	return p.refuse(literalUnclosed, open)
}

// content reads one item between delimiters, which begins with c: FWS, a
// quoted-pair, a byte of class, or a UTF-8 character (RFC 6532 section 3.2).
func (p *parser) content(c, class byte) bool {
	switch {
	case is(c, class):
		p.at++
		return true
	case is(c, wsp) || c == '\r' || c == '\n':
		return p.fws()
	case c == '\\':
		return p.quotedPair()
	case c >= utf8.RuneSelf:
		return p.utf8NonASCII(class)
	}
	return p.refuse(controlCharacter, p.at)
}

// quoted-pair = "\" (VCHAR / WSP) (RFC 5322 section 3.2.1)
func (p *parser) quotedPair() bool {
	p.at++
	c := p.peek()
	switch {
	case is(c, vchar|wsp):
		p.at++
	case c >= utf8.RuneSelf:
		return p.utf8NonASCII(vchar)
	case p.at < len(p.text):
		return p.refuse(quotedControl, p.at)
	}
	return true
}
