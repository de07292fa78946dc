package core

// AppendDetails extends result, what AppendJSON returned for f, by the member
// details: why the address was refused or got its role, its provider class and
// its suggestion, the identity of its mailbox, and the versions that decided. f
// must be of the last Check of c. Each file details_*.go writes one member; every
// member is there, null where there is nothing.
//
// Hosts ask for details rarely, so nothing about them is computed before.
func (c *Checker) AppendDetails(result []byte, f *Facts) []byte {
	dst := appendText(result[:len(result)-1], `,"details":{"refusal":`)
	dst = appendRefusal(dst, f)
	dst = c.appendCanonical(appendText(dst, `,"canonical":`), f)
	dst = c.appendRoleEvidence(appendText(dst, `,"role_evidence":`), f)
	dst = c.appendProviderEvidence(appendText(dst, `,"provider_evidence":`), f)
	dst = c.appendTypoEvidence(appendText(dst, `,"typo_evidence":`), f)
	dst = c.AppendVersions(appendText(dst, `,"versions":`))
	return append(dst, '}', '}')
}

// AppendVersions appends the versions that determine every result, as JSON. None
// has a character to escape.
func (c *Checker) AppendVersions(dst []byte) []byte {
	dst = appendText(appendText(dst, `{"engine":"`), Version)
	dst = appendText(appendText(dst, `","lists":"`), c.lists.Version())
	dst = appendText(appendText(dst, `","model":"`), ModelVersion())
	return append(dst, '"', '}')
}

// appendText appends s. It is a function of its own because the compiler would
// place the code that grows dst at each of many calls.
//
//go:noinline
func appendText(dst []byte, s string) []byte { return append(dst, s...) }

// appendJSONString appends s as a JSON string. It is a function of its own for the
// same reason.
//
//go:noinline
func appendJSONString(dst, s []byte) []byte { return appendQuoted(dst, s) }

func appendNull(dst []byte) []byte { return append(dst, 'n', 'u', 'l', 'l') }
