package core

import "unicode/utf8"

// The limits on an address, in octets.
const (
	localPartMax = 64  // RFC 5321 section 4.5.3.1.1
	addressMax   = 254 // RFC 5321 section 4.5.3.1.3, less the angle brackets (RFC 3696 erratum 1690)
	domainMax    = 253 // RFC 1035 section 2.3.4, written out, in A-label form
	labelMax     = 63  // RFC 1035 section 2.3.4, in A-label form
)

// inputMax is the length in bytes of the longest address that is parsed, which
// is room for long comments. What is longer is refused by its length alone, so
// that it costs no more than its echo.
const inputMax = 4096

// takeName takes the domain name at s: it maps and checks each label and
// builds both forms of the name.
func (a *address) takeName(text []byte, s span) Refusal {
	if s.end-s.start > domainMax {
		return a.longName(text, s)
	}
	a.domain, a.host = a.domainText[:0], a.hostText[:0]
	for start, dot := s.start, 0; ; {
		end, next := labelEnd(text, s, start)
		if start == end { // beside a dot that was mapped
			return emptyLabel(s, start, dot)
		}
		if r := a.takeLabel(text[start:end], start); r.Reason != Accepted {
			return r
		}
		if end == s.end {
			return a.checkLength(s)
		}
		a.domain, a.host = append(a.domain, '.'), append(a.host, '.')
		start, dot = end+next, next
	}
}

// emptyLabel says which dot is wrong where the label at i is empty; the dot
// before it takes so many octets.
func emptyLabel(name span, i, dot int) Refusal {
	switch i {
	case name.start:
		return Refusal{Reason: domainStartsWithDot, Offset: i}
	case name.end:
		return Refusal{Reason: domainEndsWithDot, Offset: i - dot}
	}
	return Refusal{Reason: domainTwoDots, Offset: i}
}

// checkLength holds the name to its limit in A-label form.
func (a *address) checkLength(s span) Refusal {
	if excess := len(a.host) - domainMax; excess > 0 {
		return Refusal{domainTooLong, s.start, excess}
	}
	return Refusal{}
}

// labelEnd returns where the label that begins at start ends, and how many
// octets the dot behind it takes: UTS #46 maps three more characters to it.
func labelEnd(text []byte, name span, start int) (end, dot int) {
	for i := start; i < name.end; i++ {
		switch c := text[i]; {
		case c == '.':
			return i, 1
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRune(text[i:]); r == 0x3002 || r == 0xFF0E || r == 0xFF61 {
				return i, size
			}
		}
	}
	return name.end, 0
}

// longName says what is too long in a name that, as written, is longer than
// any may be: a label where it shows, else the domain. One with U-labels may
// be shorter in A-labels, yet makes the address too long.
func (a *address) longName(text []byte, s span) Refusal {
	for start := s.start; start < s.end; {
		end, dot := labelEnd(text, s, start)
		if excess := end - start - labelMax; excess > 0 && isASCII(text[start:end]) {
			return Refusal{labelTooLong, start + labelMax, excess}
		}
		start = end + max(dot, 1)
	}
	if isASCII(s.of(text)) {
		return Refusal{domainTooLong, s.start + domainMax, s.end - s.start - domainMax}
	}
	excess := len(a.local) + len("@") + s.end - s.start - addressMax
	return Refusal{addressTooLong, s.end - excess, excess}
}

// takeLabel takes one label, which lies at offset.
func (a *address) takeLabel(label []byte, offset int) Refusal {
	if isASCII(label) {
		return a.takeLDH(label, offset)
	}
	if r := a.mapLabel(label, offset); r.Reason != Accepted {
		return r
	}
	if a.work.isASCII() {
		r := a.takeLDH(a.work.appendTo(a.encoded[:0]), offset)
		r.Offset = offset
		return r
	}
	return a.takeULabel(label, offset)
}

// takeLDH takes a label of letters, digits and hyphens (RFC 5890 section
// 2.3.1); the grammar and the mapping let no others through.
func (a *address) takeLDH(label []byte, offset int) Refusal {
	switch n := len(label); {
	case label[0] == '-':
		return Refusal{Reason: labelStartsWithHyphen, Offset: offset}
	case label[n-1] == '-':
		return Refusal{Reason: labelEndsWithHyphen, Offset: offset + n - 1}
	case n > labelMax:
		return Refusal{labelTooLong, offset + labelMax, n - labelMax}
	}
	start := len(a.domain)
	a.domain = appendLower(a.domain, label)
	written := a.domain[start:]
	a.host = append(a.host, written...)
	if isACE(written) {
		return a.checkALabel(written, offset)
	}
	return Refusal{}
}

// isACE reports whether label, in lower case, has the prefix of A-labels.
func isACE(label []byte) bool { return len(label) >= 4 && string(label[:4]) == acePrefix }

const acePrefix = "xn--"
