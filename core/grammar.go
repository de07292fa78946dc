package core

// parser is a recogniser of addr-spec (RFC 5322 section 3.4.1, without the
// obsolete syntax of section 4), internationalized by RFC 6532 section 3.2. It
// reads the address once, left to right: a method per production, named after
// it, which returns false once it has refused. Lengths, labels and address
// literals are not its business; it only finds where the parts lie.
type parser struct {
	text    []byte // the address as given
	at      int    // where the next octet lies
	part    part   // which part is being read
	gap     int    // where the CFWS read last begins; -1 when it was empty
	refusal Refusal

	local  span // without CFWS; with its quotes
	domain span // the same, with its brackets
}

// span is a stretch of the address, from its first octet up to end.
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
		return p.afterPart()
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

// end refuses what stands after the domain.
func (p *parser) end() bool { return p.at == len(p.text) || p.afterPart() }

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

// atom reads 1*atext. In a domain only letters, digits and hyphens count as
// such: a host name bears no others (RFC 5321 section 4.1.2, sub-domain).
func (p *parser) atom() bool {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case is(c, letDig) || c == '-' || p.part == inLocalPart && is(c, atext):
			p.at++
		case c >= 0x80 && !p.utf8(bare):
			return false
		case c < 0x80:
			return p.at > start || p.noAtom()
		}
	}
	return p.at > start || p.noAtom()
}
