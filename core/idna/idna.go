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

import "github.com/addrspec/addrspec/core/internal/ascii"

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

// isACE reports whether label, in lower case, has the prefix of A-labels.
func isACE(label []byte) bool {
	return len(label) >= len(acePrefix) && string(label[:len(acePrefix)]) == acePrefix
}
