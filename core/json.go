package core

// Places are offsets into what AppendJSON returns, for readers that do not
// parse it.
type Places struct {
	EmailEnd int // behind the closing quote of the value of email
	MX       int // of the value of mx
}

// AppendJSON appends the 16 fields of f in the order of the contract, with mx
// false. With fullSuggestion typo_suggestion is the whole corrected address
// instead of its domain.
func AppendJSON(dst []byte, f *Facts, fullSuggestion bool) (json []byte, at Places) {
	dst = append(dst, `{"email":`...)
	dst = appendQuoted(dst, f.Email)
	at.EmailEnd = len(dst)
	dst = appendBool(append(dst, `,"valid":`...), f.Valid)
	dst = appendNullable(append(dst, `,"normalized":`...), f.Normalized)
	dst = appendNullable(append(dst, `,"local_part":`...), f.LocalPart)
	dst = appendBool(append(dst, `,"alias":`...), f.Alias)
	dst = appendBool(append(dst, `,"ascii":`...), f.ASCII)
	dst = appendRole(append(dst, `,"role":`...), f.Role)
	dst = appendBool(append(dst, `,"gibberish":`...), f.Gibberish >= Gibberish)
	dst = f.Gibberish.append(append(dst, `,"gibberish_score":`...))
	dst = appendNullable(append(dst, `,"domain":`...), f.Domain)
	dst = append(dst, `,"mx":`...)
	at.MX = len(dst)
	dst = appendBool(append(dst, `false,"disposable":`...), f.Disposable)
	dst = appendBool(append(dst, `,"public":`...), f.Public)
	dst = appendBool(append(dst, `,"relay":`...), f.Relay)
	dst = appendBool(append(dst, `,"typo":`...), f.Typo != nil)
	dst = f.appendSuggestion(append(dst, `,"typo_suggestion":`...), fullSuggestion)
	return append(dst, '}'), at
}

func (f *Facts) appendSuggestion(dst []byte, full bool) []byte {
	if f.Typo == nil || !full {
		return appendNullable(dst, f.Typo)
	}
	dst = appendEscaped(append(dst, '"'), f.LocalPart)
	dst = appendEscaped(append(dst, '@'), f.Typo)
	return append(dst, '"')
}

// append writes the score the way JSON.stringify would: 0, 0.5, 0.97, 1.
func (s Score) append(dst []byte) []byte {
	if s >= 100 {
		return append(dst, '1')
	}
	if s == 0 {
		return append(dst, '0')
	}
	dst = append(dst, '0', '.', '0'+byte(s/10))
	if s%10 == 0 {
		return dst
	}
	return append(dst, '0'+byte(s%10))
}

// appendBool appends single octets, which are stored in place, where a string
// would be moved by a call, the slowest part of a short append in WebAssembly.
func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 't', 'r', 'u', 'e')
	}
	return append(dst, 'f', 'a', 'l', 's', 'e')
}

// appendRole appends the name of r, or null. No name has characters to escape.
func appendRole(dst []byte, r Role) []byte {
	if r == NoRole {
		return append(dst, 'n', 'u', 'l', 'l')
	}
	dst = append(append(dst, '"'), r.String()...)
	return append(dst, '"')
}

func appendNullable(dst, s []byte) []byte {
	if s == nil {
		return append(dst, 'n', 'u', 'l', 'l')
	}
	return appendQuoted(dst, s)
}

func appendQuoted(dst, s []byte) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}
