package core

import (
	"bytes"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

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

// trimFWS returns s without the white space at its ends.
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

// readLiteral returns the reason to refuse the literal s, and the offset; or
// Accepted.
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
// results are those of readIPv4.
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
