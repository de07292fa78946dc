package core

import "github.com/addrspec/addrspec/lists"

// AppendDetails extends result, what AppendJSON returned for f, by the member
// details: why the address was refused or got its role, its provider class and
// its suggestion, the identity of its mailbox, and the versions that decided. f
// must be of the last Check of c. Each file details*.go writes one member.
//
// Hosts ask for details rarely, so nothing about them is computed before.
func (c *Checker) AppendDetails(result []byte, f *Facts) []byte {
	dst := append(result[:len(result)-1], `,"details":{"refusal":`...)
	dst = appendRefusal(dst, f)
	dst = c.appendCanonical(append(dst, `,"canonical":`...), f)
	dst = c.appendRoleEvidence(append(dst, `,"role_evidence":`...), f)
	dst = c.appendProviderEvidence(append(dst, `,"provider_evidence":`...), f)
	dst = c.appendTypoEvidence(append(dst, `,"typo_evidence":`...), f)
	dst = c.AppendVersions(append(dst, `,"versions":`...))
	return append(dst, '}', '}')
}

// AppendVersions appends the versions that determine every result, as JSON.
func (c *Checker) AppendVersions(dst []byte) []byte {
	dst = append(append(dst, `{"engine":"`...), Version...)
	dst = append(append(dst, `","lists":"`...), c.lists.Version()...)
	dst = append(append(dst, `","model":"`...), ModelVersion()...)
	return append(dst, '"', '}')
}

// appendRefusal appends why f is not valid, or null.
func appendRefusal(dst []byte, f *Facts) []byte {
	if f.Valid {
		return append(dst, "null"...)
	}
	r := f.Refusal
	dst = append(append(dst, `{"code":"`...), r.Reason.Code()...)
	dst = appendDecimal(append(dst, `","offset":`...), r.Offset)
	dst = append(append(dst, `,"section":"`...), r.Reason.Section()...)
	dst = append(dst, `","sentence":"`...)
	start := len(dst)
	dst = r.AppendSentence(dst, f.Email)
	return append(escapeFrom(dst, start), '"', '}')
}

// escapeFrom escapes dst[start:] as the inside of a JSON string, in place where
// nothing needs an escape.
func escapeFrom(dst []byte, start int) []byte {
	if plainLength(dst[start:]) == len(dst)-start {
		return dst
	}
	return appendEscaped(dst[:start], append([]byte(nil), dst[start:]...))
}

// appendProviderEvidence appends the entry of the lists that classifies the
// domain of f, or null.
func (c *Checker) appendProviderEvidence(dst []byte, f *Facts) []byte {
	m := c.lists.Match(f.Host)
	if m.Class == 0 {
		return append(dst, "null"...)
	}
	dst = appendQuoted(append(dst, `{"entry":`...), m.Entry)
	dst = append(append(dst, `,"class":"`...), className(m.Class)...)
	dst = appendBool(append(dst, `","subdomains":`...), m.Subdomains)
	return append(dst, '}')
}

func className(c lists.Class) string {
	switch c {
	case lists.Disposable:
		return "disposable"
	case lists.Public:
		return "public"
	case lists.Relay:
		return "relay"
	}
	return "known"
}

// appendCanonical appends the identity of the mailbox and the name of the rule
// that gave it.
func (c *Checker) appendCanonical(dst []byte, f *Facts) []byte {
	dst = appendNullable(dst, f.Normalized)
	return append(dst, `,"canonical_rule":null`...)
}

// appendRoleEvidence appends the word that made f a role account, or null.
func (c *Checker) appendRoleEvidence(dst []byte, f *Facts) []byte {
	return append(dst, "null"...)
}

// appendTypoEvidence appends the provider that the domain of f misspells and the
// edits that lead there, or null.
func (c *Checker) appendTypoEvidence(dst []byte, f *Facts) []byte {
	if f.Typo == nil {
		return append(dst, "null"...)
	}
	dst = appendQuoted(append(dst, `{"target":`...), f.Typo)
	return append(dst, `,"edits":[]}`...)
}
