package core

import "github.com/addrspec/addrspec/core/internal/ascii"

// normalizeContent sets plainLocal to the content of the local part in lower
// case and NFC. ASCII is always in NFC.
func (a *address) normalizeContent() {
	content := a.content()
	if ascii.Is(content) {
		a.plainLocal = ascii.AppendLower(a.plainText[:0], content)
		return
	}
	a.plainLocal = a.names.AppendLowerNFC(a.plainText[:0], content)
}

// content returns the content of the local part: a quoted string without its
// quotes and without the backslashes of its quoted-pairs.
func (a *address) content() []byte {
	if a.local[0] != '"' {
		return a.local
	}
	dst := a.plainText[:0]
	inside := a.local[1 : len(a.local)-1]
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' {
			i++
		}
		dst = append(dst, inside[i])
	}
	return dst
}

// normalize sets the normalized address from plainLocal and the domain.
func (a *address) normalize() {
	dst := a.normalizedText[:0]
	if isDotAtomText(a.plainLocal) {
		dst = append(dst, a.plainLocal...)
	} else {
		dst = appendQuotedString(dst, a.plainLocal)
	}
	a.normalizedLocal = len(dst)
	a.normalized = append(append(dst, '@'), a.domain...)
}

// isDotAtomText reports whether content needs no quotes. It is well-formed
// UTF-8, since the parser accepted it.
func isDotAtomText(content []byte) bool {
	p := parser{text: content}
	return p.dotAtomText() && p.at == len(content)
}

// appendQuotedString appends content as a quoted-string with as few backslashes
// as possible (RFC 5322 section 3.2.4).
func appendQuotedString(dst, content []byte) []byte {
	dst = append(dst, '"')
	for _, c := range content {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
