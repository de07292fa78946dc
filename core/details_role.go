package core

// RoleMatch is how a role word was found.
type RoleMatch uint8

const (
	NoMatch       RoleMatch = iota
	WholeWord               // info, or info beside other words
	SeparatedWord           // no-reply
	GluedWord               // infouk
	PartWord                // kernel-team: the words before it are not listed
	NoReplyHost             // the host takes no mail; Word is its name
)

// String returns the name of m in details.
func (m RoleMatch) String() string {
	return [...]string{"none", "word", "separated", "glued", "part", "host"}[m]
}

// RoleEvidence is why an address has its role. Its slices point into the Checker
// and the address and are valid until the next Check.
type RoleEvidence struct {
	Word       []byte // without separators
	Match      RoleMatch
	Qualifiers [][]byte // the regions, numbers, teams and other words beside it
}

// RoleEvidence returns why f, the facts of the last Check, has its role.
func (c *Checker) RoleEvidence(f *Facts) RoleEvidence {
	if f.Role == NoRole {
		return RoleEvidence{}
	}
	if match := c.lists.Match(f.Host); len(f.Host) > 0 && takesNoMail(match.Class, f.Host) {
		return RoleEvidence{Word: hostEvidence(match.Entry, f.Host), Match: NoReplyHost}
	}
	return c.words.evidence(c.known)
}

func hostEvidence(entry, host []byte) []byte {
	if entry != nil {
		return entry
	}
	return noReplyPart(host)
}

// evidence returns what roleOf found last.
func (w *words) evidence(l *wordList) RoleEvidence {
	head := &w.segments[w.head]
	e := RoleEvidence{Word: w.text[head.start:head.end], Match: w.matchOf(head)}
	for i := range w.read {
		s := &w.segments[i]
		if i == w.head {
			e.Qualifiers = l.appendParts(e.Qualifiers, w.text[w.start(int(s.first)):s.start])
			e.Qualifiers = l.appendParts(e.Qualifiers, w.text[s.end:w.ends[s.all-1]])
			continue
		}
		e.Qualifiers = append(e.Qualifiers, w.joined(int(s.first), int(s.all)))
	}
	return e
}

func (w *words) matchOf(head *segment) RoleMatch {
	switch {
	case w.read == 1 && (head.first > 0 || int(head.all) < w.count):
		return PartWord
	case head.start != w.start(int(head.first)) || head.end != w.ends[head.all-1]:
		return GluedWord
	case head.all-head.first > 1:
		return SeparatedWord
	}
	return WholeWord
}

// appendParts appends the words that are glued in text, which is empty, one
// listed word, or one before a code.
func (l *wordList) appendParts(dst [][]byte, text []byte) [][]byte {
	if len(text) == 0 {
		return dst
	}
	if n := len(text) - 2; l.lists.Word(text) == 0 && n > 0 {
		return append(dst, text[:n], text[n:])
	}
	return append(dst, text)
}

// appendRoleEvidence appends the word that made f a role account, or null.
func (c *Checker) appendRoleEvidence(dst []byte, f *Facts) []byte {
	e := c.RoleEvidence(f)
	if e.Match == NoMatch {
		return appendNull(dst)
	}
	dst = appendJSONString(appendText(dst, `{"word":`), e.Word)
	dst = appendText(appendText(dst, `,"match":"`), e.Match.String())
	dst = appendText(dst, `","qualifiers":[`)
	for i, q := range e.Qualifiers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, q)
	}
	return append(dst, ']', '}')
}
