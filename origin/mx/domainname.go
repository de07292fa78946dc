package mx

import "strings"

const (
	maxName  = 253 // bytes of a name in text, RFC 1035 section 2.3.4 less two
	maxLabel = 63
)

// canonical returns domain as it is queried and cached: in lower case, without
// a final dot. It returns "" for a name that cannot have MX records: one that is
// too long, has an empty label, or a character that isNameByte rejects. It
// returns an error for a U-label.
func canonical(domain string) (string, error) {
	domain = strings.TrimSuffix(domain, ".")
	if len(domain) > maxName {
		return "", nil
	}
	upper, label := false, 0
	for i := range len(domain) {
		switch b := domain[i]; {
		case b == '.' && label > 0:
			label = -1
		case b >= 0x80:
			return "", &Error{Kind: Failure, Reason: NotALabel}
		case !isNameByte(b):
			return "", nil
		case 'A' <= b && b <= 'Z':
			upper = true
		}
		if label++; label > maxLabel {
			return "", nil
		}
	}
	if label == 0 {
		return "", nil
	}
	if upper {
		domain = strings.ToLower(domain)
	}
	return domain, nil
}

// isNameByte reports whether b is a letter, a digit, a hyphen or an underscore.
// Host names have no underscore, but other DNS names do (RFC 8552).
func isNameByte(b byte) bool { return isLDH(b) || b == '_' }

func isLDH(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || isDigit(b) || b == '-'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isHostName reports whether exchange, a name in presentation format, is a host
// name: labels of letters, digits and inner hyphens, the last not all digits, so
// that an IPv4 address is not a host name (RFC 1123 section 2.1). The root is
// not a host name; as an exchange it is null MX (RFC 7505). Whether the host
// exists is not checked: "localhost" is a host name.
func isHostName(exchange string) bool {
	rest := strings.TrimSuffix(exchange, ".")
	if rest == "" || len(rest) > maxName {
		return false
	}
	for {
		label, after, more := strings.Cut(rest, ".")
		if !isHostLabel(label) {
			return false
		}
		if !more {
			return !isNumber(label)
		}
		rest = after
	}
}

func isHostLabel(label string) bool {
	n := len(label)
	if n == 0 || n > maxLabel || label[0] == '-' || label[n-1] == '-' {
		return false
	}
	for i := range n {
		if !isLDH(label[i]) {
			return false
		}
	}
	return true
}

func isNumber(label string) bool {
	for i := range len(label) {
		if !isDigit(label[i]) {
			return false
		}
	}
	return true
}
