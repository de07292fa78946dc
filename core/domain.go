package core

import (
	"bytes"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// setName sets the domain and host to the name at s in text: it maps and checks
// each label.
func (a *address) setName(text []byte, s span) Refusal {
	if s.end-s.start > domainMax {
		return a.longName(text, s)
	}
	a.names.Reset()
	for start, dot := s.start, 0; ; {
		end, next := labelEnd(text, s, start)
		if start == end { // next to a dot that UTS #46 maps; the grammar refuses others
			switch start {
			case s.start:
				return Refusal{Reason: domainStartsWithDot, Offset: start}
			case s.end:
				return Refusal{Reason: domainEndsWithDot, Offset: start - dot}
			}
			return Refusal{Reason: domainTwoDots, Offset: start}
		}
		if v := a.names.AppendLabel(text[start:end]); v.Rule != idna.None {
			return Refusal{labelReasons[v.Rule], start + v.Offset, v.Excess}
		}
		if end == s.end {
			break
		}
		start, dot = end+next, next
	}
	a.domain, a.host = a.names.Domain, a.names.Host
	if excess := len(a.host) - domainMax; excess > 0 {
		return Refusal{domainTooLong, s.start, excess}
	}
	return Refusal{}
}

// HostReader reads names of domains that are not in an address. It contains the memory that
// it needs, so only one goroutine may use it at a time.
type HostReader struct{ address address }

// Read returns name as Facts.Host has it for an address at that domain, in lower case and
// A-label form, or why no address can have that domain. The host is valid until the next
// Read. An address literal is no name.
func (h *HostReader) Read(name []byte) (host []byte, why Refusal) {
	if out := h.address.normalizedText[:]; len(name) <= domainMax && usualDomain(out, name) {
		return out[:len(name)], Refusal{}
	}
	p := parser{text: name, part: inDomain, gap: -1}
	if !p.dotAtomText() || !p.end() {
		return nil, p.refusal
	}
	why = h.address.setName(name, span{0, len(name)})
	if why.Reason != Accepted {
		return nil, why
	}
	return h.address.host, why
}

// labelEnd returns the end of the label that begins at start and the length in
// bytes of the dot after it, since UTS #46 maps three characters to a dot.
func labelEnd(text []byte, name span, start int) (end, dot int) {
	for i := start; i < name.end; i++ {
		switch c := text[i]; {
		case c == '.':
			return i, 1
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRune(text[i:]); idna.IsDot(r) {
				return i, size
			}
		}
	}
	return name.end, 0
}

// longName returns the refusal for a name longer than domainMax as written: for
// its first ASCII label that is too long, else for the domain. A name with
// U-labels may be shorter in A-labels, but makes the address too long.
func (a *address) longName(text []byte, s span) Refusal {
	for start := s.start; start < s.end; {
		end, dot := labelEnd(text, s, start)
		if excess := end - start - labelMax; excess > 0 && ascii.Is(text[start:end]) {
			return Refusal{labelTooLong, start + labelMax, excess}
		}
		start = end + max(dot, 1)
	}
	if ascii.Is(s.of(text)) {
		return Refusal{domainTooLong, s.start + domainMax, s.end - s.start - domainMax}
	}
	excess := len(a.local) + len("@") + s.end - s.start - addressMax
	return Refusal{addressTooLong, s.end - excess, excess}
}

// labelReasons maps the rules of package idna to reasons.
var labelReasons = [...]Reason{
	idna.Character:      domainCharacter,
	idna.LeadingHyphen:  labelStartsWithHyphen,
	idna.TrailingHyphen: labelEndsWithHyphen,
	idna.InnerHyphens:   labelHyphens,
	idna.LeadingMark:    labelStartsWithMark,
	idna.Context:        labelContext,
	idna.Bidi:           labelBidi,
	idna.Punycode:       labelPunycode,
	idna.Length:         labelTooLong,
}

// An address literal is the text between the brackets of a domain (RFC 5321
// section 4.1.3): IPv4, or IPv6 after its tag. General address literals are
// refused, since no tag was ever registered for one.

const ipv6Tag = "ipv6:"

// literalMax is the length of the longest literal: the tag, six groups and an
// IPv4 address.
const literalMax = len(ipv6Tag) + 6*len("ffff:") + len("255.255.255.255")

// setLiteral sets the domain to the address literal, without the white space at
// its ends and in lower case: ABNF strings (RFC 5234 section 2.3) and
// hexadecimal digits ignore case.
func (a *address) setLiteral(p *parser) Refusal {
	inside := trimFWS(p.text, span{p.domain.start + 1, p.domain.end - 1})
	if why, at := readLiteral(inside.of(p.text)); why != Accepted {
		return Refusal{Reason: why, Offset: inside.start + at}
	}
	a.host = nil
	a.domain = append(a.literalText[:0], '[')
	a.domain = append(ascii.AppendLower(a.domain, inside.of(p.text)), ']')
	return Refusal{}
}

func trimFWS(text []byte, s span) span {
	for s.start < s.end && isFWS(text[s.start]) {
		s.start++
	}
	for s.start < s.end && isFWS(text[s.end-1]) {
		s.end--
	}
	return s
}

func isFWS(c byte) bool { return is(c, wsp) || c == '\r' || c == '\n' }

func readLiteral(s []byte) (why Reason, at int) {
	s = s[:min(len(s), literalMax+1)] // a longer literal is wrong by then
	if ascii.HasPrefixFold(s, ipv6Tag) {
		if at, ok := readIPv6(s[len(ipv6Tag):]); !ok {
			return literalIPv6, len(ipv6Tag) + at
		}
		return Accepted, 0
	}
	at, ok := readIPv4(s)
	switch _, untagged := readIPv6(s); {
	case ok:
		return Accepted, 0
	case untagged:
		return literalIPv6Tag, 0
	case len(s) > 0 && '0' <= s[0] && s[0] <= '9' && bytes.IndexByte(s, ':') < 0:
		return literalIPv4, at
	}
	return literalUnknown, 0
}

// readIPv4 reads Snum 3("." Snum). It returns the length of the part of s that
// conforms, and whether all of s does.
func readIPv4(s []byte) (at int, ok bool) {
	for i := range 4 {
		if i > 0 {
			if at == len(s) || s[at] != '.' {
				return at, false
			}
			at++
		}
		n := snum(s[at:])
		if n == 0 {
			return at, false
		}
		at += n
	}
	return at, at == len(s)
}

// snum = 1*3DIGIT, from 0 to 255. It returns its length in s, 0 if s does not
// begin with one.
func snum(s []byte) int {
	n, value := 0, 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		value = 10*value + int(s[n]-'0')
		if n++; n > 3 || value > 255 {
			return 0
		}
	}
	return n
}

// readIPv6 reads IPv6-full / IPv6-comp / IPv6v4-full / IPv6v4-comp: eight
// groups, of which an IPv4 address at the end replaces two. "::" may replace a
// single group as in RFC 4291 section 2.2, although RFC 5321 requires two. The
// results are as for readIPv4.
func readIPv6(s []byte) (at int, ok bool) {
	groups, compressed := 0, false
	if len(s) >= 2 && s[0] == ':' && s[1] == ':' {
		compressed, at = true, 2
	}
	for at < len(s) {
		dotted, ok := readIPv4(s[at:])
		if ok {
			groups, at = groups+2, len(s)
			break
		}
		n := hexGroup(s[at:])
		if n == 0 {
			return at, false
		}
		if at+n < len(s) && s[at+n] == '.' {
			return at + dotted, false
		}
		groups, at = groups+1, at+n
		if at == len(s) {
			break
		}
		if s[at] != ':' || at+1 == len(s) {
			return at, false
		}
		if at++; s[at] == ':' {
			if compressed {
				return at, false
			}
			compressed, at = true, at+1
		}
	}
	return at, !compressed && groups == 8 || compressed && groups <= 7
}

// hexGroup = IPv6-hex = 1*4HEXDIG. It returns its length in s, 0 if s does not
// begin with one.
func hexGroup(s []byte) int {
	n := 0
	for n < len(s) && is(s[n], hexDig) {
		if n++; n > 4 {
			return 0
		}
	}
	return n
}
