package typo

// isSpecialUse reports whether label, which is not in the root zone, is a
// top-level domain with a use of its own, so that a name under it is a host or a
// placeholder and no misspelling. home.arpa (RFC 8375) needs no entry: arpa is
// in the root zone.
func isSpecialUse(label []byte) bool {
	switch string(label) {
	case "test", "example", "invalid", "localhost", // RFC 6761 section 6
		"local",                       // RFC 6762 section 3
		"onion",                       // RFC 7686
		"alt",                         // RFC 9476
		"internal",                    // reserved by ICANN for private use in 2024
		"intranet", "private", "corp", // RFC 6762 appendix G
		"home", "lan", // RFC 6762 appendix G
		"localdomain",    // the default of many systems
		"aa", "xx", "zz": // user-assigned in ISO 3166-1, so never a country: placeholders
		return true
	}
	return false
}
