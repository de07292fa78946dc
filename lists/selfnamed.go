package lists

import "bytes"

// selfNames precede "mail" or "inbox" in the names of throw-away services: what they call
// their purpose, and services that others name themselves after. Alone, a name is too
// weak: 20min.ch is a newspaper, trashbox.ru a portal, and much tableware is jetable.
var selfNames = [...][]byte{
	[]byte("temp"), []byte("tmp"), []byte("temporary"), []byte("trash"), []byte("throwaway"), []byte("burner"),
	[]byte("burnthis"), []byte("disposable"), []byte("fake"), []byte("fakemy"), []byte("jetable"), []byte("wegwerf"),
	[]byte("0min"), []byte("0minute"), []byte("0minutes"), []byte("0minuten"), []byte("2minute"), []byte("5minute"),
	[]byte("yop"), []byte("guerrilla"), []byte("guerilla"),
}

// SelfNamedSource is the name among the sources of an entry that SelfNamed gives.
const SelfNamedSource = "addrspec/self-named"

var (
	mail       = []byte("mail")
	inbox      = []byte("inbox")
	mailinator = []byte("mailinator")

	// modern ends as temporary does: contemporarymailboxes.com sells letter boxes.
	modern = []byte("contemporary")
)

// SelfNamed reports whether a name that was registered, in lower case, says that it is one
// of a throw-away service: temp-mail.example, best10minutemail.example, 20minute.email.
// Hyphens and dots do not count.
func SelfNamed(registered []byte) bool {
	for at, b := range registered {
		if b != 'i' { // as of most names, which have no "mail" and no "inbox"
			continue
		}
		if at >= 2 && bytes.HasPrefix(registered[at-2:], mail) && (endsWithSelfName(registered[:at-2]) || bytes.HasPrefix(registered[at-2:], mailinator)) ||
			bytes.HasPrefix(registered[at:], inbox) && endsWithSelfName(registered[:at]) {
			return true
		}
	}
	return false
}

// endsWithSelfName reports whether text, before "mail" or "inbox", ends with one of
// selfNames, with or without the e of "email".
func endsWithSelfName(text []byte) bool {
	shorter, _ := cutSuffix(text, 'e')
	for _, name := range selfNames {
		if hasSuffix(text, name) || hasSuffix(shorter, name) {
			return !hasSuffix(text, modern) && !hasSuffix(shorter, modern)
		}
	}
	return false
}

// hasSuffix reports whether text ends with suffix, without hyphens and dots.
func hasSuffix(text, suffix []byte) bool {
	found := len(text) >= len(suffix)
	for i := len(suffix) - 1; i >= 0 && found; i-- {
		text, found = cutSuffix(text, suffix[i])
	}
	return found
}

// cutSuffix cuts hyphens and dots, then b. It returns text if that is not its last byte.
func cutSuffix(text []byte, b byte) (shorter []byte, found bool) {
	n := len(text)
	for n > 0 && (text[n-1] == '-' || text[n-1] == '.') {
		n--
	}
	if n == 0 || text[n-1] != b {
		return text, false
	}
	return text[:n-1], true
}

// selfNamed returns the registered name in domain if it says what it is and has no entry
// of its own, else nil. Such a name is disposable, with all that is below it.
func (l *Lists) selfNamed(domain []byte) []byte {
	if !SelfNamed(domain) {
		return nil // most domains, which need no search for what was registered
	}
	name := l.registered(domain)
	if !SelfNamed(name) || l.domains.find(name) != 0 {
		return nil
	}
	return name
}

// registered returns the name in domain that was registered: a label below a top-level
// domain, or below one of the registries' endings of two labels; nil if there is none.
func (l *Lists) registered(domain []byte) (name []byte) {
	for rest := domain; bytes.IndexByte(rest, '.') >= 0; rest = rest[bytes.IndexByte(rest, '.')+1:] {
		if parentOf(rest) == nil && l.isEnding(rest) {
			break
		}
		name = rest
	}
	return name
}

func (l *Lists) isEnding(line []byte) bool {
	for part := l.topLevels; ; {
		at := bytes.Index(part, line)
		if at < 0 {
			return false
		}
		end := at + len(line)
		if (at == 0 || part[at-1] == '\n') && end < len(part) && part[end] == '\n' {
			return true
		}
		part = part[at+1:]
	}
}
