package core

// parseUsual takes the usual address, a dot-atom of ASCII before a host name
// without A-labels, in one scan; false leaves every other to parseAny, which
// says the same of these.
func (a *address) parseUsual(email []byte) bool {
	if len(email) > addressMax {
		return false
	}
	out := a.normalizedText[:len(email)]
	at := usualLocalPart(out, email)
	if at == 0 || at > localPartMax || !usualDomain(out[at+1:], email[at+1:]) {
		return false
	}
	out[at] = '@'
	a.normalized, a.local, a.plainLocal = out, email[:at], out[:at]
	a.domain = out[at+1:]
	a.host = a.domain
	return true
}

// usualLocalPart copies the local part in lower case and returns where the @
// behind it lies; 0 where it is not a dot-atom.
func usualLocalPart(out, email []byte) (at int) {
	out = out[:len(email)]
	before := byte('.') // an atom has to begin here
	for i, c := range email {
		if !is(c, atext) {
			if before == '.' || c != '.' {
				return usualAt(c, before, i)
			}
		}
		out[i] = lowered[c]
		before = c
	}
	return 0
}

func usualAt(c, before byte, i int) int {
	if c != '@' || before == '.' {
		return 0
	}
	return i
}

// usualDomain copies the domain in lower case and reports whether each label
// has letters, digits and inner hyphens, a proper length and no ACE prefix.
func usualDomain(out, domain []byte) bool {
	out = out[:len(domain)]
	start := 0 // of the label
	before := byte('.')
	for i, c := range domain {
		out[i] = lowered[c]
		if !is(c, letDig) {
			if before == '.' || c == '-' && isACEAt(out[start:i]) {
				return false
			}
			if c == '.' {
				if before == '-' || i-start > labelMax {
					return false
				}
				start = i + 1
			} else if c != '-' {
				return false
			}
		}
		before = c
	}
	return before != '.' && before != '-' && len(domain)-start <= labelMax
}

// isACEAt reports whether a hyphen after label so far could be the first of
// the prefix of A-labels.
func isACEAt(label []byte) bool { return len(label) == 2 && label[0] == 'x' && label[1] == 'n' }
