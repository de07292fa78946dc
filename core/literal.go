package core

// An address literal is what stands between the brackets of a domain
// (RFC 5321 section 4.1.3): IPv4, or IPv6 behind its tag. General address
// literals are refused, since no tag was ever registered for one.

// literalMax is the length of the longest literal: the tag, six groups and an
// IPv4 address.
const literalMax = len("IPv6:") + 6*len("ffff:") + len("255.255.255.255")

// literalReason says what is wrong with the literal; Accepted for nothing.
func literalReason(s []byte) Reason {
	switch {
	case hasIPv6Tag(s):
		if !isIPv6(s[len("IPv6:"):]) {
			return literalIPv6
		}
	case isIPv4(s):
	case len(s) > 0 && '0' <= s[0] && s[0] <= '9' && indexByte(s, ':') < 0:
		return literalIPv4
	case looksLikeIPv6(s):
		return literalIPv6Tag
	default:
		return literalUnknown
	}
	return Accepted
}

func hasIPv6Tag(s []byte) bool {
	const tag = "ipv6:"
	if len(s) < len(tag) {
		return false
	}
	for i := range len(tag) {
		if lower(s[i]) != tag[i] { // ABNF strings ignore case (RFC 5234 section 2.3)
			return false
		}
	}
	return true
}

// looksLikeIPv6 reports whether s is an IPv6 address without its tag.
func looksLikeIPv6(s []byte) bool { return len(s) <= literalMax && isIPv6(s) }

// isIPv4 = Snum 3("." Snum)
func isIPv4(s []byte) bool {
	for range 3 {
		n := snum(s)
		if n == 0 || n == len(s) || s[n] != '.' {
			return false
		}
		s = s[n+1:]
	}
	n := snum(s)
	return n > 0 && n == len(s)
}

// snum = 1*3DIGIT, from 0 to 255. It returns how many octets of s it takes,
// 0 for none.
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

// isIPv6 = IPv6-full / IPv6-comp / IPv6v4-full / IPv6v4-comp. Eight groups in
// all; an IPv4 address at the end stands for two; "::" for at least two.
func isIPv6(s []byte) bool {
	groups, compressed := 0, false
	if len(s) >= 2 && s[0] == ':' && s[1] == ':' {
		compressed, s = true, s[2:]
	}
	for len(s) > 0 {
		n := hexGroup(s)
		switch {
		case isIPv4(s):
			groups, s = groups+2, nil
			continue
		case n == 0:
			return false
		}
		groups++
		if s = s[n:]; len(s) == 0 {
			break
		}
		if s[0] != ':' || len(s) == 1 {
			return false
		}
		if s = s[1:]; s[0] == ':' {
			if compressed {
				return false
			}
			compressed, s = true, s[1:]
		}
	}
	return !compressed && groups == 8 || compressed && groups <= 6
}

// hexGroup = IPv6-hex = 1*4HEXDIG. It returns how many octets of s it takes,
// 0 for none.
func hexGroup(s []byte) int {
	n := 0
	for n < len(s) && is(s[n], hexDig) {
		if n++; n > 4 {
			return 0
		}
	}
	return n
}
