package core

import "github.com/addrspec/addrspec/lists"

// Role is a category of role accounts; the zero value is none. Package lists
// has the numbers and names, since the role words are packed with them.
type Role = lists.Role

// The ten categories, in the order of the contract.
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

// roleOf returns the role of local, a normalized local part without its tag.
//
// local is a role account if it has a role word, possibly spelled with
// separators (no-reply), and every word before and after it is a qualifier: a
// number, a region, a language or a department (support-eu, it-helpdesk2). Any
// other word, such as a surname, makes it a personal mailbox.
func (w *words) roleOf(l *lists.Lists, local []byte) Role {
	if !w.split(local) {
		return NoRole
	}
	for i := range w.count {
		role, end := w.longestMatch(l, i)
		if role != NoRole && role != lists.Qualifier {
			return w.ifQualified(l, role, end)
		}
		if role == NoRole && !w.isNumber(i) {
			return NoRole
		}
	}
	return NoRole
}

// longestMatch finds the longest sequence of words from i that is listed when
// joined. It returns its role and the index of the word after it; NoRole if no
// sequence is listed.
func (w *words) longestMatch(l *lists.Lists, i int) (role Role, end int) {
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

// ifQualified returns role if every word from i on is a qualifier, else NoRole.
// A role word is a qualifier too, as the name of a department.
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
	maxWordBytes = 64 // of all words: the limit on a local part (RFC 5321 section 4.5.3.1.1)
	maxDigits    = 4  // of a number after a word: a branch, a year
	minYear      = 3  // from so many digits on, one or two letters before them are initials
)

// words are the words of a local part, split at ".", "_" and "-" and before
// trailing digits. text has them without separators, so consecutive words can be
// read as one.
type words struct {
	text  [maxWordBytes]byte
	ends  [maxWords]uint8
	count int
}

// split splits local into words. It returns false if local is not that of a role
// account: an empty word, too many or too long words, or a number that add
// rejects.
func (w *words) split(local []byte) bool {
	if len(local) == 0 || len(local) > maxWordBytes {
		return false
	}
	w.count = 0
	start, at := 0, 0
	for i := 0; i <= len(local); i++ {
		if i < len(local) && !isSeparator(local[i]) {
			w.text[at] = local[i]
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

// add adds the word in text[start:end], and its trailing digits as a word of
// their own. It returns false if there is no room or the digits are no branch or
// year.
func (w *words) add(start, end int) bool {
	letters := end
	for letters > start && isDigit(w.text[letters-1]) {
		letters--
	}
	if digits := end - letters; digits > maxDigits || digits >= minYear && letters-start > 0 && letters-start < 3 {
		return false // some other number, or initials and a year
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

// joined returns the words from i up to, but not including, end as one word.
func (w *words) joined(i, end int) []byte {
	if i == 0 {
		return w.text[:w.ends[end-1]]
	}
	return w.text[w.ends[i-1]:w.ends[end-1]]
}

// mayJoin reports whether word i may begin a word spelled with separators. A
// single letter may not, since it is an initial (h.r is a person); the exception
// is the e of e-mail.
func (w *words) mayJoin(i int) bool {
	word := w.joined(i, i+1)
	return len(word) > 1 || word[0] == 'e'
}

// isNumber reports whether word i consists of digits.
func (w *words) isNumber(i int) bool {
	return isDigit(w.joined(i, i+1)[0]) && isDigit(w.text[w.ends[i]-1])
}

func isSeparator(b byte) bool { return b == '.' || b == '_' || b == '-' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
