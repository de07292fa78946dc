package core

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// takeName takes the domain name at s: it maps and checks each label and
// builds both forms of the name.
func (a *address) takeName(text []byte, s span) Refusal {
	if s.end-s.start > domainMax {
		return a.longName(text, s)
	}
	a.names.Reset()
	for start, dot := s.start, 0; ; {
		end, next := labelEnd(text, s, start)
		if start == end { // beside a dot that was mapped
			return emptyLabel(s, start, dot)
		}
		if v := a.names.AppendLabel(text[start:end]); v.Rule != idna.None {
			return Refusal{labelReasons[v.Rule], start + v.Offset, v.Excess}
		}
		if end == s.end {
			return a.checkLength(s)
		}
		a.names.AppendDot()
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
	a.domain, a.host = a.names.Domain, a.names.Host
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
			if r, size := utf8.DecodeRune(text[i:]); idna.IsDot(r) {
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

// labelReasons are the reasons for the rules of package idna.
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
