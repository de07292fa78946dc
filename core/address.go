package core

// address is one parsed addr-spec (RFC 5322 section 3.4.1) with the forms the
// facts need. Its slices point into the input or into its own scratch space.
type address struct {
	local      []byte // as written, without comments and white space
	domain     []byte // the same, lower case
	host       []byte // A-label form; empty for an address literal
	plainLocal []byte // normalized: unquoted where that says the same, NFC, lower case
	normalized []byte // plainLocal @ domain, itself valid

	scratch [1024]byte
}

// parse reads email and fills a, or says why it is refused.
func (a *address) parse(email []byte) Refusal {
	for i, b := range email {
		if b == '@' && i > 0 && i+1 < len(email) {
			a.local, a.domain, a.host = email[:i], email[i+1:], email[i+1:]
			a.plainLocal, a.normalized = a.local, email
			return Refusal{}
		}
	}
	return Refusal{Reason: noAt}
}
