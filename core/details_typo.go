package core

import "github.com/addrspec/addrspec/core/typo"

// appendTypoEvidence appends the provider that the domain of f misspells and the
// edits that lead there, or null.
func (c *Checker) appendTypoEvidence(dst []byte, f *Facts) []byte {
	if f.Typo == nil {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"target":`), f.Typo)
	dst = appendText(dst, `,"edits":[`)
	for i, edit := range c.typos.Explain(f.Host, f.Typo) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendEdit(dst, edit)
	}
	return append(dst, ']', '}')
}

// appendEdit appends one edit; At counts characters of the domain with U-labels.
func appendEdit(dst []byte, e typo.Edit) []byte {
	dst = appendText(appendText(dst, `{"kind":"`), e.Kind.String())
	dst = appendDecimal(appendText(dst, `","at":`), e.At)
	dst = appendJSONString(appendText(dst, `,"from":`), []byte(e.From))
	dst = appendJSONString(appendText(dst, `,"to":`), []byte(e.To))
	return append(dst, '}')
}
