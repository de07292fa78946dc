package core

import "github.com/addrspec/addrspec/core/internal/ascii"

// normalizeContent puts the content of the local part into lower case and NFC.
// ASCII alone is in NFC already.
func (a *address) normalizeContent() {
	content := a.content()
	if ascii.Is(content) {
		a.plainLocal = ascii.AppendLower(a.plainText[:0], content)
		return
	}
	a.plainLocal = a.names.AppendLowerNFC(a.plainText[:0], content)
}

// content returns what the local part says: a quoted string without its
// quotes and the backslashes of its quoted-pairs.
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

// normalize builds the normalized address from the content of the local part
// and the domain.
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

// isDotAtomText reports whether content can stand without quotes. The content
// of a quoted string holds well-formed UTF-8 alone.
func isDotAtomText(content []byte) bool {
	p := parser{text: content}
	return p.dotAtomText() && p.at == len(content)
}

// appendQuotedString appends content as a quoted-string with no more
// backslashes than it needs (RFC 5322 section 3.2.4).
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
