package core

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// repairs are the mistakes that have one certain correction, each with the reasons that it is
// refused for. fix returns text without the mistake at the refused offset, or nil if text has
// another mistake. What is corrected in the domain or beside it is certain only if the domain
// then ends as domains do.
var repairs = [...]struct {
	reasons  []Reason
	inDomain bool
	fix      func(c *Checker, text []byte, at int) []byte
}{
	{[]Reason{enclosed, localPartCharacter}, false, insideMarks},
	{[]Reason{angleBracket}, false, betweenBrackets},
	{[]Reason{mailtoPrefix, quotedStringUnclosed}, false, withoutPrefix},
	{[]Reason{bareCR, bareLF, lineBreakAlone}, false, withoutLineBreaks},
	{[]Reason{invisibleCharacter, bidiControl, labelContext}, false, (*Checker).withoutInvisible},
	{[]Reason{atLookalike, secondAt}, true, (*Checker).withOneAt},
	{[]Reason{angleBracket, severalAddresses, domainEndsWithDot, domainTwoDots, domainSpace, domainCharacter, commentUnopened}, true, withoutTail},
	{[]Reason{commaForDot, domainTwoDots, domainSpace}, true, (*Checker).withOneDot},
}

// maxRepairs is how many mistakes of an address are corrected, such as a space at each dot.
// repairMax is the length of the longest text in which characters are replaced.
const (
	maxRepairs = 12
	repairMax  = 2 * addressMax
)

// Repair returns the address that f, the facts of the last Check of c, is meant to be: if it is
// not valid, and exactly one certain correction makes it valid; else nil. No letter or digit is
// added or changed: those of the result are one run of the input's. It is valid until the next
// Check of c.
func (c *Checker) Repair(f *Facts) []byte {
	if f.Valid {
		return nil
	}
	text, why, inDomain := f.Email, f.Refusal, false
	for n := 0; why.Reason != Accepted; n++ {
		var fixed []byte
		for i := range repairs {
			r := &repairs[i]
			if fixed == nil && slices.Contains(r.reasons, why.Reason) {
				fixed = r.fix(c, text, why.Offset)
				inDomain = inDomain || fixed != nil && r.inDomain
			}
		}
		if fixed == nil || n == maxRepairs {
			return nil
		}
		text = fixed
		why = c.address.parse(text)
	}
	g := c.Check(text)
	for i := range enclosures {
		open := enclosures[i].open
		if g.LocalPart[0] != '"' && len(g.LocalPart) >= len(open) && string(g.LocalPart[:len(open)]) == open {
			return nil
		}
	}
	form := c.Form(&g)
	switch {
	case form&FormOddCharacter != 0:
		return nil
	case inDomain && (form&FormSingleLabel != 0 || form&(FormUnknownTLD|FormSpecialUse) == FormUnknownTLD):
		return nil
	case form&FormComment != 0: // its letters are among the others
		return trimmed(text)
	}
	p := parser{text: text}
	p.addrSpec()
	return c.join(p.local.of(text), "@", p.domain.of(text))
}

// splice returns text with s, which is no longer, in place of text[from:to]; nil if text is
// too long. text may be what it returned before.
func (c *Checker) splice(text []byte, from, to int, s string) []byte {
	if len(text) > repairMax {
		return nil
	}
	return c.join(text[:from], s, text[to:])
}

// join returns a, s and b, which may be parts of what it returned before, in that order.
//
//go:noinline
func (c *Checker) join(a []byte, s string, b []byte) []byte {
	n := copy(c.repaired[:], a)
	n += copy(c.repaired[n:], s)
	n += copy(c.repaired[n:], b)
	return c.repaired[:n]
}

func insideMarks(_ *Checker, text []byte, _ int) []byte { return enclosedAddress(withoutStops(text)) }

// betweenBrackets returns the address in angle brackets, unless another one is outside.
func betweenBrackets(_ *Checker, text []byte, _ int) []byte {
	open := bytes.LastIndexByte(text, '<')
	if open < 0 {
		return nil
	}
	before, inside := text[:open], text[open+1:]
	if end := bytes.IndexByte(inside, '>'); end >= 0 {
		if !isTail(inside[end:]) {
			return nil
		}
		inside = inside[:end]
	}
	if bytes.IndexByte(before, '@') >= 0 && !bytes.HasSuffix(inside, trimmed(before)) {
		return nil
	}
	return inside
}

func withoutPrefix(_ *Checker, text []byte, at int) []byte {
	switch {
	case at > 0:
		return nil
	case text[0] == '"':
		return text[1:]
	}
	return text[len("mailto:"):]
}

func withoutLineBreaks(_ *Checker, text []byte, _ int) []byte { return trimmed(text) }

// withoutInvisible returns text without an invisible character that only a program can have
// put there. A joiner beside other than ASCII may be meant, an override of the direction shows
// another address than it has, and a filler is a letter.
func (c *Checker) withoutInvisible(text []byte, at int) []byte {
	r, size := utf8.DecodeRune(text[at:])
	end, why := at+size, hidden(r)
	switch {
	case why != invisibleCharacter && why != bidiControl, r == 0x202D, r == 0x202E, r >= 0xE0000:
		return nil
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return nil
	case idna.IsJoiner(r) && (at > 0 && text[at-1] >= utf8.RuneSelf || end < len(text) && text[end] >= utf8.RuneSelf):
		return nil
	}
	return c.splice(text, at, end, "")
}

// withOneAt returns text with an @ in place of the character that looks like one, or of two.
func (c *Checker) withOneAt(text []byte, at int) []byte {
	if text[at] != '@' {
		_, size := utf8.DecodeRune(text[at:])
		return c.splice(text, at, at+size, "@")
	}
	if text[at-1] != '@' {
		return nil
	}
	return c.splice(text, at, at+1, "")
}

// withoutTail returns text without the marks behind the domain, those behind a closing mark
// first, since it may have an opening one.
func withoutTail(_ *Checker, text []byte, at int) []byte {
	if !isTail(text[at:]) {
		return nil
	}
	if shorter := withoutStops(text); at < len(shorter) && len(shorter) < len(text) {
		return shorter
	}
	return text[:at]
}

func withoutStops(text []byte) []byte {
	n := len(text)
	for n > 0 && isStop(text[n-1]) {
		n--
	}
	return text[:n]
}

func isStop(c byte) bool { return c == '.' || c == ',' || c == ';' || isFWS(c) }

// isTail reports whether text has only marks that end a sentence, an item of a list or what
// encloses an address.
func isTail(text []byte) bool {
	for len(text) > 0 {
		n := tailMark(text)
		if n == 0 {
			return false
		}
		text = text[n:]
	}
	return true
}

// tailMark returns the length of the mark that text begins with, 0 if it is none.
func tailMark(text []byte) int {
	if isStop(text[0]) || text[0] == '>' {
		return 1
	}
	if r, size := utf8.DecodeRune(text); idna.IsDot(r) {
		return size
	}
	for i := range enclosures {
		if n := len(enclosures[i].closing); len(text) >= n && string(text[:n]) == enclosures[i].closing {
			return n
		}
	}
	return 0
}

// withOneDot returns text with a dot in place of the comma in the domain, or without its
// second dot or the white space beside a dot.
func (c *Checker) withOneDot(text []byte, at int) []byte {
	r, size := utf8.DecodeRune(text[at:])
	end, dot := at+size, ""
	switch {
	case r == ',' || r == ';':
		dot = "."
	case r != '.' && !idna.IsDot(r):
		isOther := func(r rune) bool {
			return r >= utf8.RuneSelf && !isBlank(r) || r < utf8.RuneSelf && !isFWS(byte(r))
		}
		end = len(text)
		if n := bytes.IndexFunc(text[at:], isOther); n >= 0 {
			end = at + n
		}
		if text[at-1] != '.' && (end == len(text) || text[end] != '.') {
			return nil
		}
	}
	// If the text before ends as domains do, what follows may be the next sentence or address.
	g := c.Check(withoutStops(text[:at]))
	whole := g.Valid && c.Form(&g)&(FormSingleLabel|FormUnknownTLD) == 0
	if whole && !c.isEnding(text[:at], text[end:]) {
		return nil
	}
	return c.splice(text, at, end, dot)
}

// isEnding reports whether the last label of before and all of rest are an ending under which
// a registry takes names, as in example.co,uk.
func (c *Checker) isEnding(before, rest []byte) bool {
	before = withoutStops(before)
	for len(rest) > 0 && isStop(rest[0]) {
		rest = rest[1:]
	}
	var memory [2*labelMax + 1]byte
	label := before[bytes.LastIndexByte(before, '.')+1:]
	ending := append(ascii.AppendLower(memory[:0], label), '.')
	return c.typos.IsTopLevel(ascii.AppendLower(ending, withoutStops(rest)))
}
