package core

// appendTypoEvidence appends the provider that the domain of f misspells and the
// edits that lead there, or null.
func (c *Checker) appendTypoEvidence(dst []byte, f *Facts) []byte {
	if f.Typo == nil {
		return appendNull(dst)
	}
	dst = appendQuoted(appendText(dst, `{"target":`), f.Typo)
	return appendText(dst, `,"edits":[]}`)
}
