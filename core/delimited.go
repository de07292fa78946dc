package core

import "unicode/utf8"

// Text between delimiters: quoted strings, comments, domain literals.

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
		if !p.quoted(c, qtext) {
			return false
		}
	}
	return p.refuse(quotedStringUnclosed, open)
}

// comment = "(" *([FWS] ccontent) [FWS] ")"; ccontent may be a comment again
// (RFC 5322 section 3.2.2). A counter stands for the nesting, so depth costs
// nothing.
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
			if !p.quoted(c, ctext) {
				return false
			}
		}
		if depth == 0 {
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
		case !p.quoted(c, dtext):
			return false
		}
	}
	return p.refuse(literalUnclosed, open)
}

// quoted reads one piece of text between delimiters: FWS, a quoted-pair, a
// character of class, or UTF-8 (RFC 6532 section 3.2).
func (p *parser) quoted(c, class byte) bool {
	switch {
	case is(c, class):
		p.at++
		return true
	case is(c, wsp) || c == '\r' || c == '\n':
		return p.fws()
	case c == '\\':
		return p.quotedPair()
	case c >= utf8.RuneSelf:
		return p.utf8(delimited)
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
		return p.utf8(delimited)
	case p.at < len(p.text):
		return p.refuse(quotedControl, p.at)
	}
	return true
}
