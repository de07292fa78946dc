package core

// Clone returns a copy of f that remains valid after the next Check of its Checker.
func (f *Facts) Clone() Facts {
	own := *f
	size := len(f.Email) + len(f.Normalized) + len(f.LocalPart) + len(f.Domain) + len(f.Typo) + len(f.Host)
	buffer := make([]byte, 0, size)
	for _, text := range []*[]byte{&own.Email, &own.Normalized, &own.LocalPart, &own.Domain, &own.Typo, &own.Host} {
		if *text == nil {
			continue
		}
		start := len(buffer)
		buffer = append(buffer, *text...)
		*text = buffer[start:len(buffer):len(buffer)]
	}
	return own
}

// JSON returns the result for f: the 16 fields of the contract, the same bytes as from
// the module and the service without DNS, so mx is false.
func (f *Facts) JSON() []byte {
	json, _ := AppendJSON(nil, f, false)
	return json
}

// MarshalJSON returns JSON, so that package encoding/json writes Facts by the contract.
func (f Facts) MarshalJSON() ([]byte, error) { return f.JSON(), nil }

// Suggestion returns the address with the suggested domain in place of the misspelled
// one, or "" if no domain is suggested.
func (f *Facts) Suggestion() string {
	if f.Typo == nil {
		return ""
	}
	return string(f.LocalPart) + "@" + string(f.Typo)
}

// Why returns a sentence, without a full stop, that explains why the address is not
// valid and how to correct it; "" if it is valid. The sentence may quote a character of
// the address.
func (f *Facts) Why() string {
	if f.Valid {
		return ""
	}
	return string(f.Refusal.AppendSentence(nil, f.Email))
}
