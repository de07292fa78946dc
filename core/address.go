package core

import (
	"bytes"

	"github.com/addrspec/addrspec/core/idna"
)

// The limits on an address, in octets.
const (
	localPartMax = 64  // RFC 5321 section 4.5.3.1.1
	addressMax   = 254 // RFC 5321 section 4.5.3.1.3, less the angle brackets (RFC 3696 erratum 1690)
	domainMax    = 253 // RFC 1035 section 2.3.4, written out, in A-label form
	labelMax     = idna.LabelMax
)

// inputMax is the length in bytes of the longest address that is parsed, which
// is room for long comments. What is longer is refused by its length alone, so
// that it costs no more than its echo.
const inputMax = 4096

// address is one parsed addr-spec (RFC 5322 section 3.4.1) with the forms the
// facts need. Its slices point into the address as given or into the space
// below them, and hold until the next parse.
type address struct {
	local      []byte // as written, without comments and white space
	domain     []byte // the same, lower case: as a domain name by UTS #46, in U- or A-labels as written
	host       []byte // the domain in A-labels; empty for an address literal
	plainLocal []byte // content of the local part, unquoted, in lower case and NFC
	normalized []byte // the local part, quoted only where it has to be, @ and domain

	localText      [localPartMax]byte // a local part without its folds
	plainText      [8 * localPartMax]byte
	literalText    [literalMax + 2]byte
	normalizedText [4096]byte

	names           idna.Converter
	normalizedLocal int // length of the local part in normalized
}

// parse reads email and fills a, or says why it is refused.
func (a *address) parse(email []byte) Refusal {
	if a.parseUsual(email) {
		return Refusal{}
	}
	if len(email) > inputMax {
		return Refusal{addressTooLong, addressMax, len(email) - addressMax}
	}
	return a.parseAny(email)
}

// parseAny reads an address of any form: its grammar first, then its parts.
func (a *address) parseAny(email []byte) Refusal {
	p := parser{text: email}
	if !p.addrSpec() {
		p.explain()
		return p.refusal
	}
	if r := a.takeLocalPart(&p); r.Reason != Accepted {
		return r
	}
	if r := a.takeDomain(&p); r.Reason != Accepted {
		return r
	}
	return a.takeWhole(&p)
}

// takeLocalPart takes the local part as written, but for the folds within a
// quoted string: a CRLF in FWS says nothing (RFC 5322 section 3.2.2).
func (a *address) takeLocalPart(p *parser) Refusal {
	a.local = p.local.of(p.text)
	octets := len(a.local) - 2*bytes.Count(a.local, []byte{'\r'})
	if excess := octets - localPartMax; excess > 0 {
		return Refusal{localPartTooLong, p.local.start + localPartMax, excess}
	}
	if octets < len(a.local) {
		a.local = appendWithoutFolds(a.localText[:0], a.local)
	}
	return Refusal{}
}

func (a *address) takeDomain(p *parser) Refusal {
	if p.text[p.domain.start] != '[' {
		return a.takeName(p.text, p.domain)
	}
	return a.takeLiteral(p)
}

// takeWhole holds the whole to its limit, as written and as normalized.
func (a *address) takeWhole(p *parser) Refusal {
	written := p.domain.end - p.domain.start
	if len(a.host) == 0 { // an address literal, whose white space does not count
		written = len(a.domain)
	}
	if excess := len(a.local) + len("@") + written - addressMax; excess > 0 {
		return Refusal{addressTooLong, p.domain.end - excess, excess}
	}
	a.normalizeContent()
	a.normalize()
	if excess := max(a.normalizedLocal-localPartMax, len(a.normalized)-addressMax); excess > 0 {
		return Refusal{normalizedTooLong, p.local.start, excess}
	}
	return Refusal{}
}

// appendWithoutFolds appends s without its CRLFs.
func appendWithoutFolds(dst, s []byte) []byte {
	for _, c := range s {
		if c != '\r' && c != '\n' {
			dst = append(dst, c)
		}
	}
	return dst
}
