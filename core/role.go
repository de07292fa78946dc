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
