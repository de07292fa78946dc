package lists

import (
	"bytes"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// Count returns the number of domains with an entry of class c.
func (l *Lists) Count(c Class) (n int) {
	for e := range l.domains.values {
		if Class(l.kind(l.domains.value(e))[0]&^format.Subdomains) == c {
			n++
		}
	}
	return n
}

// RoleWords returns the number of role words.
func (l *Lists) RoleWords() int { return len(l.roles.values) }

// Lines returns the number of lines of a part such as TypoTargets.
func Lines(part []byte) int { return bytes.Count(part, []byte{'\n'}) }
