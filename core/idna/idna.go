// Package idna converts domain labels to A-labels, after UTS #46
// (non-transitional, STD3 rules) and IDNA2008 (RFC 5890 to 5893), and puts
// local parts into lower case and Unicode Normalization Form C.
//
// It leaves out whole names: core splits a name at its dots and limits its
// length. Start reading at Converter.AppendLabel.
package idna

import "github.com/addrspec/addrspec/core/internal/ascii"

// LabelMax is the limit on a label in octets, in A-label form (RFC 1035
// section 2.3.4).
const LabelMax = 63

// acePrefix is the prefix of A-labels (RFC 5890 section 2.3.2.5).
const acePrefix = "xn--"

// Rule is a rule that a label can violate.
type Rule uint8

const (
	None           Rule = iota
	Character           // UTS #46 or RFC 5892 disallows a character, or mapping leaves none
	LeadingHyphen       // RFC 5891 section 4.2.3.1
	TrailingHyphen      // RFC 5891 section 4.2.3.1
	InnerHyphens        // RFC 5891 section 4.2.3.1: the third and fourth character of a U-label
	LeadingMark         // RFC 5891 section 4.2.3.2
	Context             // RFC 5892 appendix A
	Bidi                // RFC 5893 section 2
	Punycode            // RFC 5891 section 4.2.1: xn-- without a valid U-label
	Length              // LabelMax
)

// Violation is the first rule that a label violates, and where.
type Violation struct {
	Rule   Rule
	Offset int // of the byte in the label as given; 0 if the whole label is wrong
	Excess int // for Length, the number of bytes over LabelMax
}

// Converter converts a domain name label by label, and local parts. It
// contains all the space that it needs, so one goroutine may use it at a time.
// It allocates nothing for names of up to 253 bytes and local parts of up to 64.
type Converter struct {
	Domain []byte // the name as given, mapped: in U-labels, A-labels and LDH labels
	Host   []byte // the name in A-labels and LDH labels

	text    runes             // the label or local part being converted
	decoded [LabelMax]rune    // the U-label of an A-label
	encoded [punyMax + 4]byte // the A-label of a U-label
	domain  [2048]byte
	host    [1024]byte
}

// Reset empties Domain and Host.
func (c *Converter) Reset() { c.Domain, c.Host = c.domain[:0], c.host[:0] }

// AppendDot appends a dot to Domain and Host.
func (c *Converter) AppendDot() { c.Domain, c.Host = append(c.Domain, '.'), append(c.Host, '.') }

// AppendLabel maps and checks label, which is not empty, and appends it to
// Domain and Host. ASCII in label must be letters, digits and hyphens.
func (c *Converter) AppendLabel(label []byte) Violation {
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
	v.Offset = 0 // it counted characters of the mapped label
	return v
}

// appendLDH appends label, which has letters, digits and hyphens only (RFC 5890
// section 2.3.1).
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
