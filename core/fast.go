package core

// parseUsual takes the usual address, a dot-atom of ASCII before a host name
// without A-labels, in one scan; false leaves every other to parseAny, which
// says the same of these.
func (a *address) parseUsual(email []byte) bool {
	if len(email) > addressMax {
		return false
	}
	at, ok := a.usualLocalPart(email)
	if !ok || !a.usualDomain(email, at+1) {
		return false
	}
	a.normalized = a.normalizedText[:len(email)]
	a.local, a.plainLocal = email[:at], a.normalized[:at]
	a.domain = a.normalized[at+1:]
	a.host = a.domain
	return true
}

// usualLocalPart copies the local part and the @ in lower case.
func (a *address) usualLocalPart(email []byte) (at int, ok bool) {
	dot := true // an atom has to begin here
	for i, c := range email {
		a.normalizedText[i] = lower(c)
		switch {
		case is(c, atext):
			dot = false
		case dot:
			return 0, false
		case c == '.':
			dot = true
		default:
			return i, c == '@' && i <= localPartMax
		}
	}
	return 0, false
}

// usualDomain copies the domain from start on in lower case.
func (a *address) usualDomain(email []byte, start int) bool {
	label := start
	for i := start; i < len(email); i++ {
		c := email[i]
		a.normalizedText[i] = lower(c)
		switch {
		case is(c, letDig):
		case c == '-':
			if i == label || a.acePrefixAt(label, i) {
				return false
			}
		case c == '.':
			if !a.usualLabel(label, i) {
				return false
			}
			label = i + 1
		default:
			return false
		}
	}
	return a.usualLabel(label, len(email))
}

// usualLabel reports whether the label from start up to end has a proper
// length and no hyphen last.
func (a *address) usualLabel(start, end int) bool {
	return start < end && end-start <= labelMax && a.normalizedText[end-1] != '-'
}

// acePrefixAt reports whether the hyphen at i is the third character of a
// label that begins with xn.
func (a *address) acePrefixAt(label, i int) bool {
	return i == label+2 && a.normalizedText[label] == 'x' && a.normalizedText[label+1] == 'n'
}
