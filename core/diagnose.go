package core

import (
	"bytes"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/idna"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// part is the part of the address that is being parsed.
type part uint8

const (
	inLocalPart part = iota
	inDomain
)

// partReasons are the reasons that depend on the part.
type partReasons struct {
	missing, startsWithDot, endsWithDot, twoDots, space, comment, character Reason
}

var reasonsOf = [...]partReasons{
	inLocalPart: {localPartMissing, localPartStartsWithDot, localPartEndsWithDot, localPartTwoDots,
		localPartSpace, localPartComment, localPartCharacter},
	inDomain: {domainMissing, domainStartsWithDot, domainEndsWithDot, domainTwoDots,
		domainSpace, domainComment, domainCharacter},
}

func (p part) reasons() *partReasons { return &reasonsOf[p] }

func (p *parser) refuseMissingAtom() bool {
	why := p.part.reasons()
	afterDot := p.at > 0 && p.text[p.at-1] == '.'
	switch {
	case p.peek() == '.' && afterDot:
		return p.refuse(why.twoDots, p.at)
	case p.peek() == '.':
		return p.refuse(why.startsWithDot, p.at)
	case p.atPartEnd() && afterDot:
		return p.refuse(why.endsWithDot, p.at-1)
	case p.atPartEnd():
		return p.refuse(why.missing, p.at)
	}
	return p.refuseUnexpected()
}

// atPartEnd reports whether only white space follows in the part: before the @
// in the local part, before the end of the input in the domain.
func (p *parser) atPartEnd() bool {
	i := p.at
	for i < len(p.text) && is(p.text[i], wsp) {
		i++
	}
	return i == len(p.text) || p.part == inLocalPart && p.text[i] == '@'
}

func (p *parser) refuseAfterPart() bool {
	why := p.part.reasons()
	switch {
	case p.at == len(p.text):
		return p.refuse(noAt, p.at)
	case p.gap >= 0 && p.isText() && p.text[p.gap] == '(':
		return p.refuse(why.comment, p.gap)
	case p.gap >= 0 && p.isText():
		return p.refuse(why.space, p.gap)
	case p.part == inDomain && p.text[p.domain.start] == '[' && p.peek() != '@':
		return p.refuse(textAfterLiteral, p.at)
	case p.isText() && p.text[p.local.start] == '"' && p.part == inLocalPart && p.peek() == '.':
		return p.refuse(partlyQuoted, p.at) // words joined by dots: obs-local-part, RFC 5322 section 4.4
	case p.isText() && p.text[p.local.start] == '"' && p.part == inLocalPart:
		return p.refuse(textAfterQuotedString, p.at)
	}
	return p.refuseUnexpected()
}

func (p *parser) isText() bool {
	c := p.peek()
	return is(c, atext) || c >= 0x80 || c == '.' || c == '"'
}

func (p *parser) refuseUnexpected() bool {
	why := p.part.reasons()
	switch c := p.text[p.at]; {
	case c == '\r' || c == '\n':
		fold := p.at
		return p.lineBreak() && p.refuse(why.space, fold)
	case is(c, wsp):
		return p.refuse(why.space, p.at)
	case c < ' ' || c == 0x7F:
		return p.refuse(controlCharacter, p.at)
	case c == '(':
		return p.refuse(why.comment, p.at)
	case c == ')':
		return p.refuse(commentUnopened, p.at)
	case c == '<' && p.opensAddress(p.at), c == '>' && p.part == inDomain && isTail(p.text[p.at:]):
		return p.refuse(angleBracket, p.at)
	case c == '@':
		return p.refuse(secondAt, p.at)
	case p.part == inDomain && (c == ',' || c == ';'):
		return p.refuse(severalAddresses, p.at)
	case p.part == inLocalPart && c == '"' && p.at > 0 && p.text[p.at-1] == '.':
		return p.refuse(partlyQuoted, p.at)
	case p.part == inLocalPart && c == '"':
		return p.refuse(quoteInside, p.at)
	}
	return p.refuse(why.character, p.at)
}

// opensAddress reports whether an address follows the angle bracket at offset i, which is
// closed or at the start of a word.
func (p *parser) opensAddress(i int) bool {
	inside, _, closed := bytes.Cut(p.text[i+1:], []byte{'>'})
	return bytes.IndexByte(inside, '@') >= 0 && (closed || i == 0 || isFWS(p.text[i-1]) || p.text[i-1] == '"')
}

// refuseJoiner returns the refusal for the joiner with number n in the local part,
// counted from 0; none if n is negative.
func (p *parser) refuseJoiner(n int) Refusal {
	if n < 0 {
		return Refusal{}
	}
	for i := p.local.start; ; {
		r, size := utf8.DecodeRune(p.text[i:])
		if idna.IsJoiner(r) {
			if n == 0 {
				return Refusal{Reason: invisibleCharacter, Offset: i}
			}
			n--
		}
		i += size
	}
}

// refineReason replaces the reason found by the grammar if another one helps
// more: a common mistake; an address without @ is refused for that alone, and text
// before an address in angle brackets is a display name, which may have any character.
func (p *parser) refineReason() {
	if p.refineMistake() {
		return
	}
	why := p.refusal.Reason
	if p.part == inDomain || why == malformedUTF8 {
		return
	}
	isHidden := why == invisibleCharacter || why == bidiControl
	at := bytes.IndexByte(p.text, '@')
	switch {
	case at < 0 && len(trimmed(p.text)) == 0:
		p.refuse(empty, 0)
	case at < 0 && !isHidden:
		p.refuse(noAt, len(p.text))
		isLookalike := func(r rune) bool { return r == 0xFF20 || r == 0xFE6B }
		if i := bytes.IndexFunc(p.text, isLookalike); i >= 0 {
			p.refuse(atLookalike, i)
		}
	case ascii.HasPrefixFold(p.text, "mailto:"): // a URI of RFC 6068
		p.refuse(mailtoPrefix, 0)
	case localPartMissing <= why && why <= quoteInside && why != quotedStringUnclosed || isHidden:
		if i := bytes.IndexByte(p.text[p.refusal.Offset:], '<'); i >= 0 && p.opensAddress(p.refusal.Offset+i) {
			p.refuse(angleBracket, p.refusal.Offset+i)
		}
	}
}

// refineMistake replaces the reason found by the grammar if the address shows a
// common mistake: its sentence is more helpful. It returns false if it does
// not.
func (p *parser) refineMistake() bool {
	why := p.refusal.Reason
	if enclosedAddress(p.text) != nil {
		p.refuse(enclosed, len(p.text)-len(bytes.TrimLeft(p.text, " \t\r\n")))
		return true
	}
	switch {
	case why == severalAddresses && p.isCommaForDot():
		p.refuse(commaForDot, p.refusal.Offset)
	case why == localPartCharacter && bytes.HasPrefix(p.text[p.refusal.Offset:], []byte("[bot]@")):
		// GitHub writes it for the author of a program's commits.
		p.refuse(botName, p.refusal.Offset)
	case domainMissing <= why && why <= domainComment:
		p.refineAt(domainPlaceholder, p.placeholder())
	case bytes.IndexByte(p.text, '@') < 0:
		p.refineAt(atSpelled, p.spelledAt())
	}
	return p.refusal.Reason != why
}

func (p *parser) refineAt(why Reason, offset int) {
	if offset >= 0 {
		p.refuse(why, offset)
	}
}

// enclosures are pairs of marks that people copy with an address: the brackets of
// a template, quotation marks, the asterisks of Markdown. Angle brackets have a
// separate reason.
var enclosures = [...]struct{ open, closing string }{
	{"[", "]"}, {"{", "}"}, {"(", ")"}, {`"`, `"`}, {"'", "'"}, {"`", "`"}, {"`", "'"}, {"*", "*"}, {"|", "|"},
	{"“", "”"}, {"„", "“"}, {"„", "”"}, {"”", "”"}, {"‘", "’"}, {"‚", "‘"}, {"‚", "’"}, {"’", "’"}, {"´", "´"}, {"¨", "¨"},
	{"«", "»"}, {"»", "«"}, {"‹", "›"}, {"›", "‹"}, {"（", "）"}, {"［", "］"}, {"【", "】"}, {"「", "」"}, {"《", "》"},
}

// maxEnclosures is how many pairs around an address are recognized.
const maxEnclosures = 3

func enclosedAddress(text []byte) []byte {
	inside := trimmed(text)
	for range maxEnclosures {
		inside = withoutEnclosure(inside)
		if inside == nil {
			break
		}
		if inner := (parser{text: inside}); inner.addrSpec() {
			return inside
		}
	}
	return nil
}

func withoutEnclosure(text []byte) []byte {
	if len(text) == 0 || is(text[0], letDig) {
		return nil
	}
	for _, e := range &enclosures {
		if n := len(e.open); len(text) > n+len(e.closing) && string(text[:n]) == e.open && bytes.HasSuffix(text, []byte(e.closing)) {
			return text[n : len(text)-len(e.closing)]
		}
	}
	return nil
}

// isCommaForDot reports whether the comma or semicolon at the refused offset was
// meant as a dot of the domain: labels follow, not another address. After a dot
// the rest must be short (co,uk), since a second name may follow a whole domain.
func (p *parser) isCommaForDot() bool {
	before, rest := p.text[p.domain.start:p.refusal.Offset], trimmed(p.text[p.refusal.Offset+1:])
	if len(rest) == 0 || !isLabelEnd(rest[0]) || !isLabelEnd(rest[len(rest)-1]) {
		return false
	}
	for _, c := range rest {
		if !isLabelEnd(c) && c != '-' && c != '.' && c != ',' && c != ';' {
			return false
		}
	}
	return bytes.IndexByte(before, '.') < 0 || len(rest) <= len("com") && is(p.text[p.refusal.Offset+1], letDig)
}

func isLabelEnd(c byte) bool { return is(c, letDig) || c >= utf8.RuneSelf }

// placeholder returns the offset of the placeholder for an unknown domain at the
// end of the input, such as git's (none); -1 if there is none.
func (p *parser) placeholder() int {
	text := trimmed(p.text)
	for _, name := range [...]string{"(none)", "(null)", "(unknown)", "(undefined)"} {
		if n := len(text) - len(name); n > 0 && ascii.HasPrefixFold(text[n:], name) {
			return bytes.LastIndexByte(p.text, '(')
		}
	}
	return -1
}

// spelledAt returns the offset of the word "at" between a name and a domain, as
// in "jane at example.com" and "jane[at]example[dot]com"; -1 if there is none.
func (p *parser) spelledAt() int {
	dot := len(p.text) - 1 // the last one, possibly written as a word
	for dot >= 0 && p.text[dot] != '.' && (p.text[dot]|0x20 != 'd' || !ascii.HasPrefixFold(p.text[dot:], "dot")) {
		dot--
	}
	for i := 2; i+3 < dot; i++ {
		if p.text[i]|0x20 == 'a' && ascii.HasPrefixFold(p.text[i:], "at") && isAtBorder(p.text[i-1]) && isAtBorder(p.text[i+2]) {
			return i
		}
	}
	return -1
}

func isAtBorder(c byte) bool { return bytes.IndexByte([]byte(" \t([{<>}])_"), c) >= 0 }

func trimmed(text []byte) []byte { return trimFWS(text, span{0, len(text)}).of(text) }
