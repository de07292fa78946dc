package core

// parseUsual parses the usual address, an ASCII dot-atom before a host name
// without A-labels, in one scan. It returns false for every other input, which
// parseAny has to parse. For the usual address both have the same result.
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

// usualLocalPart copies the local part in lower case to out and returns the
// offset of the @ after it; 0 if it is not a dot-atom.
func usualLocalPart(out, email []byte) (at int) {
	out = out[:len(email)]
	before := byte('.') // as after a dot, an atom must begin
	for i, c := range email {
		lower := loweredAtext[c]
		if lower == 0 {
			if before == '.' || c != '.' {
				return usualAt(c, before, i)
			}
			lower = '.'
		}
		out[i] = lower
		before = lower
	}
	return 0
}

// usualAt returns i if c, the byte there, is an @ that ends a dot-atom; else 0.
func usualAt(c, before byte, i int) int {
	if c != '@' || before == '.' {
		return 0
	}
	return i
}

// usualDomain copies the domain in lower case to out. It reports whether each
// label has a length from 1 to 63, letters, digits and inner hyphens only, and
// no ACE prefix.
func usualDomain(out, domain []byte) bool {
	out = out[:len(domain)]
	start := 0 // of the label
	before := byte('.')
	for i, c := range domain {
		lower := loweredLetDig[c]
		if lower == 0 {
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
			lower = c
		}
		out[i] = lower
		before = lower
	}
	return before != '.' && before != '-' && len(domain)-start <= labelMax
}

// isACEAt reports whether a hyphen after the start of a label may be the first
// one of the ACE prefix "xn--".
func isACEAt(start []byte) bool { return len(start) == 2 && start[0] == 'x' && start[1] == 'n' }
