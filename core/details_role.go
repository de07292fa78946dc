package core

// appendRoleEvidence appends the word that made f a role account, or null.
func (c *Checker) appendRoleEvidence(dst []byte, _ *Facts) []byte {
	return appendNull(dst)
}
