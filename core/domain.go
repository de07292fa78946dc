package core

import (
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
			return emptyLabel(s, start, dot)
		}
		if v := a.names.AppendLabel(text[start:end]); v.Rule != idna.None {
			return Refusal{labelReasons[v.Rule], start + v.Offset, v.Excess}
		}
		if end == s.end {
			return a.checkLength(s)
		}
		start, dot = end+next, next
	}
}

// emptyLabel returns the refusal for the empty label at i. The dot before it
// has a length of dot bytes.
func emptyLabel(name span, i, dot int) Refusal {
	switch i {
	case name.start:
		return Refusal{Reason: domainStartsWithDot, Offset: i}
	case name.end:
		return Refusal{Reason: domainEndsWithDot, Offset: i - dot}
	}
	return Refusal{Reason: domainTwoDots, Offset: i}
}

// checkLength sets both forms of the name and checks its length in A-labels.
func (a *address) checkLength(s span) Refusal {
	a.domain, a.host = a.names.Domain, a.names.Host
	if excess := len(a.host) - domainMax; excess > 0 {
		return Refusal{domainTooLong, s.start, excess}
	}
	return Refusal{}
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
