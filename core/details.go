package core

// AppendDetails extends result, what AppendJSON returned for f, by the member
// details: why the address was refused or got its role, its provider class and
// its suggestion, the identity of its mailbox, and the versions that decided. f
// must be of the last Check of c. Each file details_*.go writes one member; every
// member is there, null where there is nothing.
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

// AppendVersions appends the versions that determine every result, as JSON. None
// has a character to escape.
func (c *Checker) AppendVersions(dst []byte) []byte {
	dst = append(append(dst, `{"engine":"`...), Version...)
	dst = append(append(dst, `","lists":"`...), c.lists.Version()...)
	dst = append(append(dst, `","model":"`...), ModelVersion()...)
	return append(dst, '"', '}')
}

func appendNull(dst []byte) []byte { return append(dst, 'n', 'u', 'l', 'l') }
