// Package idna converts the labels of a domain name to A-labels: it maps them by
// UTS #46 (non-transitional, STD3 rules) and checks them by IDNA2008 (RFC 5890
// to 5893). With the same tables it converts local parts to lower case and NFC.
//
// It does not split names or limit their length; package core does. It replaces
// x/net/idna, which would add 298 KB to the compressed module and accepts more
// than IDNA2008 does, such as emoji.
//
// Start reading at Converter.AppendLabel.
package idna

import (
	"slices"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

// LabelMax is the limit on an A-label or LDH label, 63 octets (RFC 1035 section
// 2.3.4).
const LabelMax = 63

// acePrefix is the prefix of A-labels, in lower case (RFC 5890 section 2.3.2.5).
const acePrefix = "xn--"

// Rule is a rule that a label can violate.
type Rule uint8

const (
	None           Rule = iota // no rule is violated
	Character                  // UTS #46 or RFC 5892: no disallowed characters, and at least one that is not ignored
	LeadingHyphen              // RFC 5891 section 4.2.3.1
	TrailingHyphen             // RFC 5891 section 4.2.3.1
	InnerHyphens               // RFC 5891 section 4.2.3.1: no hyphens as third and fourth character of a U-label
	LeadingMark                // RFC 5891 section 4.2.3.2: no combining mark as first character
	Context                    // RFC 5892 appendix A
	Bidi                       // RFC 5893 section 2
	Punycode                   // RFC 5891 section 4.2.1: xn-- only before the encoding of a U-label
	Length                     // RFC 1035 section 2.3.4: LabelMax
)

// Violation is the first rule that a label violates, and where.
type Violation struct {
	Rule   Rule
	Offset int // of the offending character in the label as given; 0 if the whole label is wrong
	Excess int // bytes over LabelMax, for Length
}

// Converter converts a domain name, label by label, and local parts. It contains
// the memory that it needs, so only one goroutine may use it at a time. It
// allocates nothing for names of up to 253 bytes and local parts of up to 64.
type Converter struct {
	Domain []byte // the mapped name: each label a U-label, A-label or LDH label as given
	Host   []byte // the same name with A-labels instead of U-labels

	text    runes             // the label or local part being converted
	decoded [LabelMax]rune    // the U-label of an A-label
	encoded [punyMax + 4]byte // the A-label of a U-label
	domain  [2048]byte
	host    [1024]byte
}

// Reset empties Domain and Host.
func (c *Converter) Reset() { c.Domain, c.Host = c.domain[:0], c.host[:0] }

// AppendLabel maps and checks label and appends it to Domain and Host, after a
// dot if it is not the first one. Both are undefined after a violation. label
// must not be empty, and ASCII in it must be letters, digits and hyphens.
func (c *Converter) AppendLabel(label []byte) Violation {
	if len(c.Host) > 0 {
		c.Domain, c.Host = append(c.Domain, '.'), append(c.Host, '.')
	}
	if ascii.Is(label) {
		return c.appendLDH(label)
	}
	if v := c.mapLabel(label); v.Rule != None {
		return v
	}
	if !c.text.isASCII() {
		return c.appendULabel(label)
	}
	v := c.appendLDH(c.text.appendTo(c.encoded[:0]))
	v.Offset = 0 // it was an offset in the mapped label
	return v
}

// appendLDH checks and appends label, which consists of letters, digits and
// hyphens (RFC 5890 section 2.3.1).
func (c *Converter) appendLDH(label []byte) Violation {
	switch n := len(label); {
	case label[0] == '-':
		return Violation{Rule: LeadingHyphen}
	case label[n-1] == '-':
		return Violation{Rule: TrailingHyphen, Offset: n - 1}
	case n > LabelMax:
		return Violation{Length, LabelMax, n - LabelMax}
	}
	start := len(c.Domain)
	c.Domain = ascii.AppendLower(c.Domain, label)
	lower := c.Domain[start:]
	c.Host = append(c.Host, lower...)
	if isACE(lower) && !c.isALabel(lower) {
		return Violation{Rule: Punycode}
	}
	return Violation{}
}

func isACE(label []byte) bool {
	return len(label) >= len(acePrefix) && string(label[:len(acePrefix)]) == acePrefix
}

// appendULabel checks and appends the label in c.text, which has characters
// beyond ASCII and was mapped from label.
func (c *Converter) appendULabel(label []byte) Violation {
	u := c.text.text
	if len(u) > len(acePrefix) && string(u[:len(acePrefix)]) == acePrefix {
		return Violation{Rule: Punycode}
	}
	if rule, i := checkULabel(u); rule != None {
		return Violation{Rule: rule, Offset: c.source(label, u[i], countRune(u[:i], u[i]))}
	}
	encoded := appendPunycode(append(c.encoded[:0], acePrefix...), u)
	if excess := len(encoded) - LabelMax; excess > 0 {
		return Violation{Rule: Length, Excess: excess}
	}
	c.Domain = c.text.appendTo(c.Domain)
	c.Host = append(c.Host, encoded...)
	return Violation{}
}

// checkULabel checks u, which is in NFC, by RFC 5891 section 4.2.3. It returns
// the rule that u violates and the index of the character, 0 if the whole label
// is wrong.
func checkULabel(u []rune) (rule Rule, i int) {
	switch n := len(u); {
	case u[0] == '-':
		return LeadingHyphen, 0
	case u[n-1] == '-':
		return TrailingHyphen, n - 1
	case n >= 4 && u[2] == '-' && u[3] == '-':
		return InnerHyphens, 2
	case propertiesOf(u[0]).isMark():
		return LeadingMark, 0
	}
	for i, r := range u {
		switch s := propertiesOf(r).status(); {
		case s != pvalid && s != contextJ && s != contextO:
			return Character, i
		case s != pvalid && !contextAllows(u, i):
			return Context, i
		}
	}
	if !keepsBidiRule(u) {
		return Bidi, 0
	}
	return None, 0
}

// source returns the offset in label of the character that was mapped to the
// occurrence of r after the first n; 0 if several characters were composed into
// it. It overwrites c.text.
func (c *Converter) source(label []byte, r rune, n int) int {
	for i := 0; i < len(label); {
		given, size := utf8.DecodeRune(label[i:])
		c.text.reset()
		c.text.addMapped(given)
		c.text.compose()
		n -= countRune(c.text.text, r)
		if n < 0 {
			return i
		}
		i += size
	}
	return 0
}

func countRune(s []rune, r rune) (n int) {
	for _, c := range s {
		if c == r {
			n++
		}
	}
	return n
}

// The joiners, which are invisible but change how adjacent characters look.
const (
	nonJoiner = 0x200C // ZERO WIDTH NON-JOINER
	joiner    = 0x200D // ZERO WIDTH JOINER
)

// IsJoiner reports whether r is one of the joiners U+200C and U+200D.
func IsJoiner(r rune) bool { return r == nonJoiner || r == joiner }

// contextAllows reports whether label satisfies the contextual rule of its
// character at index i (RFC 5892 appendix A). It returns false for a character
// without a rule.
func contextAllows(label []rune, i int) bool {
	before, after := runeAt(label, i-1), runeAt(label, i+1)
	switch r := label[i]; {
	case IsJoiner(r):
		return joinerAllowed(label, i)
	case r == 0xB7: // A.3, middle dot, as in Catalan
		return before == 'l' && after == 'l'
	case r == 0x375: // A.4, Greek keraia
		return propertiesOf(after).script() == greek
	case r == 0x5F3 || r == 0x5F4: // A.5 and A.6, Hebrew geresh and gershayim
		return propertiesOf(before).script() == hebrew
	case r == 0x30FB: // A.7, Katakana middle dot
		return slices.ContainsFunc(label, func(r rune) bool { return propertiesOf(r).script() == kanaOrHan })
	case 0x660 <= r && r <= 0x669: // A.8, Arabic-Indic digits
		return !slices.ContainsFunc(label, func(r rune) bool { return 0x6F0 <= r && r <= 0x6F9 })
	case 0x6F0 <= r && r <= 0x6F9: // A.9, extended Arabic-Indic digits
		return !slices.ContainsFunc(label, func(r rune) bool { return 0x660 <= r && r <= 0x669 })
	}
	return false
}

// joinerAllowed reports whether the joiner at index i of text changes how the characters
// beside it look (RFC 5892 appendix A.1 and A.2): it follows a virama or, if it is a
// non-joiner, the letters on both sides join: (L or D) T* i T* (R or D).
func joinerAllowed(text []rune, i int) bool {
	left, right := i-1, i+1
	if propertiesOf(runeAt(text, left)).isVirama() {
		return true
	}
	for left >= 0 && propertiesOf(text[left]).joinsThrough() {
		left--
	}
	for right < len(text) && propertiesOf(text[right]).joinsThrough() {
		right++
	}
	return text[i] == nonJoiner &&
		propertiesOf(runeAt(text, left)).joinsNext() && propertiesOf(runeAt(text, right)).joinsBefore()
}

// MisplacedJoiner returns which joiner, counted from 0, of the text that AppendLowerNFC
// converted last would not be allowed in a label; -1 if there is none. Neither lower case
// nor NFC removes or moves a joiner.
func (c *Converter) MisplacedJoiner() int {
	n := 0
	for i, r := range c.text.text {
		if !IsJoiner(r) {
			continue
		}
		if !joinerAllowed(c.text.text, i) {
			return n
		}
		n++
	}
	return -1
}

func runeAt(label []rune, i int) rune {
	if i < 0 || i >= len(label) {
		return 0
	}
	return label[i]
}

// keepsBidiRule reports whether label satisfies the six conditions of RFC 5893
// section 2, if it has right-to-left characters. RFC 5891 section 4.2.3.4 does
// not require them of other labels, so 3com.קום is accepted; browsers apply the
// rule to every label of such a name and refuse it.
func keepsBidiRule(label []rune) bool {
	var seen [bidiNeutral + 1]bool
	last := bidiOther // before trailing nonspacing marks
	for _, r := range label {
		d := propertiesOf(r).direction()
		seen[d] = true
		if d != bidiNSM {
			last = d
		}
	}
	if !seen[bidiR] && !seen[bidiAN] {
		return true
	}
	return propertiesOf(label[0]).direction() == bidiR && // condition 1; an L would break 5
		!seen[bidiOther] && !seen[bidiL] && // 2
		(last == bidiR || last == bidiEN || last == bidiAN) && // 3
		!(seen[bidiEN] && seen[bidiAN]) // 4
}

// isALabel reports whether label, in lower case and with the prefix, is an
// A-label by RFC 5891 section 4.2.1: it must decode to a valid U-label, which has
// characters beyond ASCII and is in NFC, that encodes to label again.
func (c *Converter) isALabel(label []byte) bool {
	u, ok := appendDecoded(c.decoded[:0], label[len(acePrefix):])
	if !ok {
		return false
	}
	c.text.reset()
	for _, r := range u {
		c.text.addDecomposed(r, keepCase)
	}
	c.text.compose()
	if c.text.isASCII() || !slices.Equal(c.text.text, u) {
		return false
	}
	encoded := appendPunycode(append(c.encoded[:0], acePrefix...), u)
	if string(encoded) != string(label) {
		return false
	}
	rule, _ := checkULabel(u)
	return rule == None
}
