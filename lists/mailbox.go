package lists

import (
	"bytes"

	"github.com/addrspec/addrspec/lists/internal/format"
)

// MailboxRule is what a provider publishes about the names of its mailboxes: the local part
// of an address without its tag.
type MailboxRule struct {
	Name        string // stable, such as "gmail"
	Characters  string // allowed besides letters and digits
	First       string // of Characters, those that a name may begin with
	Least, Most int    // bytes of a name

	allowed, allowedFirst byte // marks
}

// nameMarks has a bit for each kind of byte of a name; one that no name has is other.
var nameMarks = makeNameMarks()

const other = 0x80

func makeNameMarks() (t [256]byte) {
	for b := range t {
		t[b] = other
	}
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyz0123456789") {
		t[b] = 1
	}
	for i, b := range []byte(".-_") {
		t[b] = 2 << i
	}
	return t
}

// marksOf returns the marks of letters, digits and characters.
func marksOf(characters []byte) byte {
	all := nameMarks['a']
	for _, b := range characters {
		all |= nameMarks[b]
	}
	return all
}

// Allows reports whether the provider has mailboxes with that name, which must be in lower
// case.
func (r *MailboxRule) Allows(name []byte) bool {
	if len(name) < r.Least || len(name) > r.Most {
		return false
	}
	return marksOf(name)&^r.allowed == 0 && nameMarks[name[0]]&^r.allowedFirst == 0
}

func (l *Lists) parseMailboxes(part []byte) bool {
	return eachLine(part, format.MailboxFields, func(f [][]byte) bool {
		r := MailboxRule{string(f[0]), string(f[1]), string(f[2]), size(f[3]), size(f[4]), marksOf(f[1]), marksOf(f[2])}
		l.mailboxes = append(l.mailboxes, r)
		return len(f[0]) > 0 && len(l.mailboxes) <= format.MaxRules && (r.allowed|r.allowedFirst)&other == 0 &&
			r.allowedFirst&^r.allowed == 0 && r.Least > 0 && r.Least <= r.Most
	})
}

// size returns the number that text, one or two digits, stands for; 0 if it is no such text.
// strconv would enlarge the module.
func size(text []byte) (n int) {
	if len(text) > 2 || len(bytes.Trim(text, "0123456789")) > 0 {
		return 0
	}
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}
