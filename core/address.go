package core

import (
	"bytes"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
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
	remarks         bool // it has comments; set unless usual
	names           idna.Converter
	normalizedLocal int // length of the local part in normalized
}

func (a *address) parse(email []byte) Refusal {
	a.usual = a.parseUsual(email)
	if a.usual {
		return Refusal{}
	}
	return a.parseAny(email)
}

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
	if p.text[p.domain.start] == '[' {
		p.refusal = a.setLiteral(&p)
	} else {
		p.refusal = a.setName(p.text, p.domain)
	}
	if p.refusal.Reason != Accepted {
		p.refineMistake()
		return p.refusal
	}
	return a.finish(&p)
}

// setLocalPart sets the local part as written, but without the folds of a
// quoted string: a CRLF in FWS has no meaning (RFC 5322 section 3.2.2). Its joiners are
// judged in NFC, as those of a label are.
func (a *address) setLocalPart(p *parser) Refusal {
	a.local = p.local.of(p.text)
	length := len(a.local) - len("\r\n")*bytes.Count(a.local, []byte{'\r'})
	if excess := length - localPartMax; excess > 0 {
		return Refusal{localPartTooLong, p.local.start + localPartMax, excess}
	}
	if length < len(a.local) {
		written := a.local
		a.local = a.localText[:0]
		for _, c := range written {
			if c != '\r' && c != '\n' {
				a.local = append(a.local, c)
			}
		}
	}
	if content := a.content(); ascii.Is(content) { // always in NFC
		a.plainLocal = ascii.AppendLower(a.plainText[:0], content)
	} else {
		a.plainLocal = a.names.AppendLowerNFC(a.plainText[:0], content)
	}
	if p.joiners {
		return p.refuseJoiner(a.names.MisplacedJoiner())
	}
	return Refusal{}
}

func (a *address) finish(p *parser) Refusal {
	written := p.domain.end - p.domain.start
	if len(a.host) == 0 { // an address literal; its white space does not count
		written = len(a.domain)
	}
	if excess := len(a.local) + len("@") + written - addressMax; excess > 0 {
		return Refusal{addressTooLong, p.domain.end - excess, excess}
	}
	a.remarks = p.remarks
	dst := a.normalizedText[:0]
	if isDotAtomText(a.plainLocal) {
		dst = append(dst, a.plainLocal...)
	} else { // as few backslashes as possible (RFC 5322 section 3.2.4)
		dst = append(dst, '"')
		for _, c := range a.plainLocal {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		dst = append(dst, '"')
	}
	a.normalizedLocal = len(dst)
	a.normalized = append(append(dst, '@'), a.domain...)
	if excess := max(a.normalizedLocal-localPartMax, len(a.normalized)-addressMax); excess > 0 {
		return Refusal{normalizedTooLong, p.local.start, excess}
	}
	return Refusal{}
}

// content returns the content of the local part: a quoted string without its
// quotes and without the backslashes of its quoted-pairs.
func (a *address) content() []byte {
	if a.local[0] != '"' {
		return a.local
	}
	dst := a.plainText[:0]
	inside := a.local[1 : len(a.local)-1]
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' {
			i++
		}
		dst = append(dst, inside[i])
	}
	return dst
}

// isDotAtomText reports whether content needs no quotes. It is well-formed
// UTF-8, since the parser accepted it.
func isDotAtomText(content []byte) bool {
	p := parser{text: content}
	return p.dotAtomText() && p.at == len(content)
}

// parseUsual parses the usual address, an ASCII dot-atom before a host name
// without A-labels, in one scan. It returns false for every other input, which
// parseAny has to parse. For the usual address both have the same result.
func (a *address) parseUsual(email []byte) bool {
	if len(email) > addressMax {
		return false
	}
	out := a.normalizedText[:len(email)]
	at := usualLocalPart(out, email)
	if at == 0 || at > localPartMax || !usualDomain(out[at+1:], email[at+1:]) {
		return false
	}
	out[at] = '@'
	a.normalized, a.local, a.plainLocal = out, email[:at], out[:at]
	a.domain = out[at+1:]
	a.host = a.domain
	return true
}

// usualLocalPart copies the local part in lower case to out and returns the
// offset of the @ after it; 0 if it is not a dot-atom.
func usualLocalPart(out, email []byte) (at int) {
	out = out[:len(email)]
	before := byte('.') // as after a dot, an atom must begin
	for i, c := range email {
		lower := loweredAtext[c]
		if lower == 0 {
			if before == '.' || c != '.' {
				if c != '@' || before == '.' {
					return 0
				}
				return i
			}
			lower = '.'
		}
		out[i] = lower
		before = lower
	}
	return 0
}

// usualDomain copies the domain in lower case to out. It reports whether each
// label has a length from 1 to 63, letters, digits and inner hyphens only, and
// no ACE prefix.
func usualDomain(out, domain []byte) bool {
	out = out[:len(domain)]
	start := 0 // of the label
	before := byte('.')
	for i, c := range domain {
		lower := loweredLetDig[c]
		if lower == 0 {
			if before == '.' || c == '-' && i-start == 2 && out[start] == 'x' && out[start+1] == 'n' { // perhaps "xn--"
				return false
			}
			if c == '.' {
				if before == '-' || i-start > labelMax {
					return false
				}
				start = i + 1
			} else if c != '-' {
				return false
			}
			lower = c
		}
		out[i] = lower
		before = lower
	}
	return before != '.' && before != '-' && len(domain)-start <= labelMax
}
