package main

// derived is the IDNA2008 property of a code point (RFC 5892 section 1).
type derived uint8

const (
	disallowed derived = iota // or unassigned
	pvalid
	contextJ
	contextO
)

// exceptions is the table of RFC 5892 section 2.6.
var exceptions = map[rune]derived{
	0xDF: pvalid, 0x3C2: pvalid, 0x6FD: pvalid, 0x6FE: pvalid, 0xF0B: pvalid, 0x3007: pvalid,
	0xB7: contextO, 0x375: contextO, 0x5F3: contextO, 0x5F4: contextO, 0x30FB: contextO,
	0x640: disallowed, 0x7FA: disallowed, 0x302E: disallowed, 0x302F: disallowed,
	0x3031: disallowed, 0x3032: disallowed, 0x3033: disallowed, 0x3034: disallowed, 0x3035: disallowed, 0x303B: disallowed,
}

func init() {
	for i := rune(0); i < 10; i++ {
		exceptions[0x660+i], exceptions[0x6F0+i] = contextO, contextO
	}
}

// idna2008 returns the derived property of r (RFC 5892 section 3).
func idna2008(r rune) derived {
	if d, ok := exceptions[r]; ok {
		return d
	}
	c := propertiesOf(r)
	switch {
	case r == 0x200C || r == 0x200D:
		return contextJ
	case c.unstable, ignorable(r), oldHangulJamo(r):
		return disallowed
	}
	switch c.category {
	case "Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc":
		return pvalid
	}
	return disallowed
}

// ignorable reports whether r is in IgnorableBlocks (RFC 5892 section 2.4). What is
// in IgnorableProperties (section 2.3) NFKC_Casefold ignores, or it is no letter.
func ignorable(r rune) bool {
	return 0x20D0 <= r && r <= 0x20FF || 0x1D100 <= r && r <= 0x1D1FF || 0x1D200 <= r && r <= 0x1D24F
}

// oldHangulJamo reports whether r is in OldHangulJamo (RFC 5892 section 2.9).
func oldHangulJamo(r rune) bool {
	return 0x1100 <= r && r <= 0x11FF || 0xA960 <= r && r <= 0xA97C || 0xD7B0 <= r && r <= 0xD7FB
}
