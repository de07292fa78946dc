package core

import "github.com/addrspec/addrspec/lists"

// appendProviderEvidence appends the entry of the lists that classifies the
// domain of f and the sources that carry it, or null.
func (c *Checker) appendProviderEvidence(dst []byte, f *Facts) []byte {
	m := c.lists.Match(f.Host)
	if m.Class == 0 {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"entry":`), m.Entry)
	dst = appendText(appendText(dst, `,"class":"`), m.Class.String())
	dst = appendBool(appendText(dst, `","subdomains":`), m.Subdomains)
	dst = c.appendCarriers(appendText(dst, `,"sources":[`), m)
	return append(dst, ']', '}')
}

// appendCarriers appends the names of the sources that carry the entry m. None has
// a character to escape.
func (c *Checker) appendCarriers(dst []byte, m lists.Match) []byte {
	sources, first := c.lists.Sources(), true
	for i := range sources {
		if !m.CarriedBy(i) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = append(appendText(append(dst, '"'), sources[i].Name), '"'), false
	}
	return dst
}
