package core

import "github.com/addrspec/addrspec/lists"

// Role is a category of role accounts; the zero value is none. Package lists
// has the numbers and names, since the role words are packed with them.
type Role = lists.Role

// The ten categories of the contract, in its order.
const (
	NoRole    = lists.NoRole
	Admin     = lists.Admin
	Support   = lists.Support
	Sales     = lists.Sales
	Marketing = lists.Marketing
	General   = lists.General
	NoReply   = lists.NoReply
	Billing   = lists.Billing
	Legal     = lists.Legal
	IT        = lists.IT
	HR        = lists.HR
)

// roleOf returns the role of name, a normalized local part without its tag.
//
// name is a role account where it is a role word, whole or spelled with
// separators (no-reply), and every word before and after it qualifies it:
// a number, a region, a language, a department (support-eu, it-helpdesk2).
// One word that does not, such as a surname, and it is somebody's mailbox.
func (w *words) roleOf(l *lists.Lists, name []byte) Role {
	if !w.split(name) {
		return NoRole
	}
	for i := range w.count {
		role, end := w.roleFrom(l, i)
		if role != NoRole && role != lists.Qualifier {
			return w.ifQualified(l, role, end)
		}
		if role == NoRole && !w.isNumber(i) {
			return NoRole
		}
	}
	return NoRole
}

// roleFrom returns what the longest run of words from i means that means
// something, and the word after it.
func (w *words) roleFrom(l *lists.Lists, i int) (role Role, end int) {
	for end = w.count; end > i; end-- {
		if end > i+1 && !w.mayJoin(i) {
			continue
		}
		if role = l.Role(w.joined(i, end)); role != NoRole {
			return role, end
		}
	}
	return NoRole, end
}

// ifQualified returns role where every word from i on qualifies it. A role
// word does too, as the name of a department.
func (w *words) ifQualified(l *lists.Lists, role Role, i int) Role {
	for ; i < w.count; i++ {
		if !w.isNumber(i) && l.Role(w.joined(i, i+1)) == NoRole {
			return NoRole
		}
	}
	return role
}

const (
	maxWords     = 6
	maxWordBytes = 64 // of all words; RFC 5321 section 4.5.3.1.1 allows no more in a local part
	maxDigits    = 4  // of a number beside a word: a branch, a year
	minYear      = 3  // digits after one or two letters that make those initials
)

// words are the words of a local part, cut at ".", "_" and "-" and before
// digits at their end. They stand in text without separators, so that a run
// of words is also one word.
type words struct {
	text  [maxWordBytes]byte
	ends  [maxWords]uint8
	count int
}

// split cuts name into words; false where it has more, or longer ones, or
// other words than a role account's name has.
func (w *words) split(name []byte) bool {
	if len(name) == 0 || len(name) > maxWordBytes {
		return false
	}
	w.count = 0
	start, at := 0, 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && !isSeparator(name[i]) {
			w.text[at] = name[i]
			at++
			continue
		}
		if at == start || !w.add(start, at) {
			return false
		}
		start = at
	}
	return true
}

// add adds the word in text[start:end], and the number at its end by itself.
func (w *words) add(start, end int) bool {
	letters := end
	for letters > start && isDigit(w.text[letters-1]) {
		letters--
	}
	if digits := end - letters; digits > maxDigits || digits >= minYear && letters-start > 0 && letters-start < 3 {
		return false // a number of something else; initials and a year
	}
	if letters > start && letters < end && !w.append(letters) {
		return false
	}
	return w.append(end)
}

func (w *words) append(end int) bool {
	if w.count == maxWords {
		return false
	}
	w.ends[w.count] = uint8(end)
	w.count++
	return true
}

// joined is the words from i to before end as one.
func (w *words) joined(i, end int) []byte {
	if i == 0 {
		return w.text[:w.ends[end-1]]
	}
	return w.text[w.ends[i-1]:w.ends[end-1]]
}

// mayJoin reports whether word i may begin a word spelled with separators. A
// single letter is an initial (h.r is a person), but for the one of e-mail.
func (w *words) mayJoin(i int) bool {
	word := w.joined(i, i+1)
	return len(word) > 1 || word[0] == 'e'
}

func (w *words) isNumber(i int) bool {
	return isDigit(w.joined(i, i+1)[0]) && isDigit(w.text[w.ends[i]-1])
}

func isSeparator(b byte) bool { return b == '.' || b == '_' || b == '-' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
