package core

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

	local  span // without CFWS, with quotes
	domain span // without CFWS, with brackets
}

// span is a range of offsets; end is exclusive.
type span struct{ start, end int }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

// addrSpec = local-part "@" domain
func (p *parser) addrSpec() bool {
	return p.localPart() && p.atSign() && p.domainPart() && p.end()
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

func (p *parser) atSign() bool {
	if p.peek() != '@' {
		return p.refuseAfterPart()
	}
	p.at++
	return true
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

// end refuses anything after the domain.
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
		case c >= 0x80 && !p.utf8NonASCII(bare):
			return false
		case c < 0x80:
			return p.at > start || p.refuseMissingAtom()
		}
	}
	return p.at > start || p.refuseMissingAtom()
}
