package core

import (
	"bytes"

	"github.com/addrspec/addrspec/core/idna"
)

// The limits on an address, in bytes.
const (
	localPartMax = 64  // RFC 5321 section 4.5.3.1.1
	addressMax   = 254 // RFC 5321 section 4.5.3.1.3, less the angle brackets (RFC 3696 erratum 1690)
	domainMax    = 253 // RFC 1035 section 2.3.4 in text form, with A-labels
	labelMax     = idna.LabelMax
)

// inputMax is the length in bytes of the longest input that is parsed; it
// leaves room for long comments. Longer input is refused by its length, so it
// costs no more than to copy it into the result.
const inputMax = 4096

// address is one parsed addr-spec (RFC 5322 section 3.4.1) in the forms that
// the facts need. Its slices point into the input or into the arrays below
// them, and are valid until the next parse.
type address struct {
	local      []byte // as written, without comments and white space
	domain     []byte // mapped by UTS #46, each label a U-label or A-label as written; or an address literal
	host       []byte // the domain in A-labels; empty for an address literal
	plainLocal []byte // content of the local part, unquoted, in lower case and NFC
	normalized []byte // plainLocal, quoted only if necessary, @ and domain

	localText      [localPartMax]byte // a local part without its folds
	plainText      [8 * localPartMax]byte
	literalText    [literalMax + 2]byte
	normalizedText [4096]byte

	usual           bool // parseUsual parsed it, so it is ASCII
	names           idna.Converter
	normalizedLocal int // length of the local part in normalized
}

// parse parses email into a, or returns why it is refused.
func (a *address) parse(email []byte) Refusal {
	if a.usual = a.parseUsual(email); a.usual {
		return Refusal{}
	}
	return a.parseAny(email)
}

// parseAny parses an address of any form: it applies the grammar, then checks
// the parts.
func (a *address) parseAny(email []byte) Refusal {
	if len(email) > inputMax {
		return Refusal{addressTooLong, addressMax, len(email) - addressMax}
	}
	p := parser{text: email}
	if !p.addrSpec() {
		p.refineReason()
		return p.refusal
	}
	if r := a.setLocalPart(&p); r.Reason != Accepted {
		return r
	}
	if r := a.setDomain(&p); r.Reason != Accepted {
		p.refusal = r
		p.refineMistake()
		return p.refusal
	}
	return a.finish(&p)
}

// setLocalPart sets the local part as written, but without the folds of a
// quoted string: a CRLF in FWS has no meaning (RFC 5322 section 3.2.2).
func (a *address) setLocalPart(p *parser) Refusal {
	a.local = p.local.of(p.text)
	length := len(a.local) - len("\r\n")*bytes.Count(a.local, []byte{'\r'})
	if excess := length - localPartMax; excess > 0 {
		return Refusal{localPartTooLong, p.local.start + localPartMax, excess}
	}
	if length < len(a.local) {
		a.local = appendWithoutFolds(a.localText[:0], a.local)
	}
	return Refusal{}
}

func (a *address) setDomain(p *parser) Refusal {
	if p.text[p.domain.start] != '[' {
		return a.setName(p.text, p.domain)
	}
	return a.setLiteral(p)
}

// finish sets the normalized forms and applies the limits on the whole address,
// as written and as normalized.
func (a *address) finish(p *parser) Refusal {
	written := p.domain.end - p.domain.start
	if len(a.host) == 0 { // an address literal; its white space does not count
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
