package core

import (
	"bytes"

	"github.com/addrspec/addrspec/lists"
)

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

// segment is a listed word of a local part, possibly written with separators or
// with others glued on; or a number, which has no class.
type segment struct {
	word       lists.Word
	start, end uint8 // of the listed word, in words.text
	first, all uint8 // its words: the first one, and the index after the last one
}

func (s *segment) size() int { return int(s.end - s.start) }

// roleOf returns the role of local, a normalized local part without its tag.
//
// local is a role account if it has a role word, possibly spelled with
// separators (no-reply), and every word before and after it qualifies it: a
// number, a region, a language, a team, another role word (support-eu,
// it-helpdesk2). Any other word, such as a surname, makes it a personal mailbox,
// unless the role word is one that may end any name (kernel-team).
//
// shared says that anybody can open a mailbox at the host. There, words that people
// use in handles make no role, nor do most words with a number.
func (w *words) roleOf(l *wordList, local []byte, shared bool) Role {
	w.shared = shared
	if !w.split(local) {
		return NoRole
	}
	if !w.readSegments(l) {
		if shared {
			return NoRole
		}
		return w.roleOfPart(l.lists)
	}
	w.head = w.findHead()
	if w.head < 0 {
		return NoRole
	}
	for i := range w.read {
		if i != w.head && !w.qualifies(i) {
			return NoRole
		}
	}
	head := w.segments[w.head].word
	if !w.shared || !head.Has(lists.Weak) {
		return head.Role()
	}
	for i := range w.read {
		if i != w.head && isUnit(w.segments[i].word) {
			return head.Role()
		}
	}
	return NoRole
}

// isBareName reports whether the last role is that of a weak word with no other
// next to it: it may as well be the name of a person, unless the host says more.
func (w *words) isBareName() bool { return w.read == 1 && w.segments[0].word.IsWeak() }

func (w *words) readSegments(l *wordList) bool {
	w.read = 0
	for i := 0; i < w.count; w.read++ {
		s := &w.segments[w.read]
		*s = segment{start: w.start(i), end: w.ends[i], first: uint8(i), all: uint8(i + 1)}
		isNumber := isDigit(w.text[s.start]) && isDigit(w.text[s.end-1])
		if !w.longestMatch(l.lists, s) && !isNumber && !l.unglue(w.joined(i, i+1), s) {
			return false
		}
		i = int(s.all)
	}
	return true
}

// longestMatch extends s, which has one word, to the longest sequence of words
// that is listed when joined. It returns false if none is.
func (w *words) longestMatch(l *lists.Lists, s *segment) bool {
	i := int(s.first)
	for end := w.count; end > i; end-- {
		if end > i+1 {
			// A single letter is an initial (h.r is a person), except the e of e-mail. Two letters after
			// a listed word are initials or a code: dev.el is not devel.
			if first := w.joined(i, i+1); len(first) == 1 && first[0] != 'e' {
				continue
			}
			if len(w.joined(end-1, end)) <= 2 && l.Word(w.joined(i, end-1)) != 0 {
				continue
			}
		}
		if word := l.Word(w.joined(i, end)); word != 0 {
			s.word, s.end, s.all = word, w.ends[end-1], uint8(end)
			return true
		}
	}
	return false
}

// findHead returns the segment that decides about the role: the first of those
// with the highest rank. It returns -1 if there is no role word or if a phrase
// means something else.
func (w *words) findHead() int {
	head, best := -1, noRank
	for i := range w.read {
		word := w.segments[i].word
		if word.Class() == lists.Phrase {
			return -1
		}
		if rank := rankOf(word); rank > best {
			head, best = i, rank
		}
	}
	return head
}

// The ranks of words: how much they say about the role.
const (
	noRank = iota
	teamRank
	weakRank
	aloneRank
	commonRank
	fullRank // only role accounts use the word
)

func rankOf(word lists.Word) int {
	switch {
	case word.Class() == lists.Team:
		return teamRank
	case word.Role() == NoRole:
		return noRank
	case word.IsWeak():
		return weakRank
	case word.Has(lists.Alone):
		return aloneRank
	case word.Has(lists.Common):
		return commonRank
	}
	return fullRank
}

func (w *words) qualifies(i int) bool {
	head, s := &w.segments[w.head], &w.segments[i]
	switch {
	case isUnit(s.word):
		return true
	case w.shared && i < w.head && s.size() == 2 &&
		(s.word.Class() == lists.Code || s.word.Class() == lists.Market || s.word.IsWeak()):
		return false // initials, more often than a country
	case head.word.IsWeak():
		return s.word.Class() == lists.Noun || s.word.Role() != NoRole
	case head.word.Has(lists.Alone):
		return false
	}
	switch s.word.Class() {
	case NoRole:
		return w.numberQualifies(i)
	case lists.Code:
		return !head.word.Has(lists.Common)
	case lists.Market:
		return head.size() > 2 || i > w.head
	}
	return head.size() > 2 || !s.word.Has(lists.Alone) // hr.dev are initials
}

// isUnit reports whether word is a team or department, which every role word has.
func isUnit(word lists.Word) bool {
	return word.Class() == lists.Unit || word.Class() == lists.Team
}

// numberQualifies reports whether the number at segment i may accompany the
// head. Two letters with a digit are initials, unless they are the head (hr2),
// and "it" is a pronoun.
func (w *words) numberQualifies(i int) bool {
	head, s := &w.segments[w.head], &w.segments[i]
	// Companies number their branches and years. Handles have numbers too, so at a provider where
	// anybody can open a mailbox only help desks and senders may have more than one digit.
	most, role := 1, head.word.Role()
	switch {
	case head.word.Has(lists.Common):
		most = maxHandleDigits
	case !w.shared || role == Support || role == NoReply && head.size() >= noReplySize:
		most = maxDigits
	}
	if s.size() > most {
		return false
	}
	if w.separators[s.first] != 0 || i == 0 {
		return head.size() > 2
	}
	before := &w.segments[i-1]
	return before.size() > 2 || w.read == 2 && !head.word.Has(lists.Common)
}

// maxHandleDigits is the length of the longest number next to a word that people use in
// handles: media01, but not media2004.
const maxHandleDigits = 2

// roleOfPart returns the role that a word gives to any other words: the last one
// in kernel-team and license_bot, the first one in noreply-digest. It returns
// NoRole if there is no such word.
func (w *words) roleOfPart(l *lists.Lists) Role {
	for i := max(1, w.count-3); i < w.count; i++ {
		// A dot joins a name more often than a project, so only noreply counts after one.
		afterDot := w.separators[i] == '.'
		size := int(w.ends[w.count-1] - w.start(i))
		if w.start(i) < 3 || w.separators[i] == 0 || afterDot && size < noReplySize {
			continue
		}
		word := l.Word(w.joined(i, w.count))
		if word.Has(lists.Ending) && word.Role() != NoRole && (!afterDot || isNoReply(word)) {
			w.setHead(word.Class(), i, w.count)
			return word.Role()
		}
	}
	for end := 1; end < min(w.count, 4); end++ {
		if size := int(w.ends[end-1]); size >= noReplySize && isNoReply(l.Word(w.joined(0, end))) {
			w.setHead(NoReply, 0, end)
			return NoReply
		}
	}
	return NoRole
}

// noReplySize is the length of the shortest word that says by itself that nobody
// reads the mail; bot is not one.
const noReplySize = len("noreply")

// isNoReply reports whether word may be next to any other and means that nobody
// reads the mail.
func isNoReply(word lists.Word) bool {
	return word.Class() == NoReply && word.Has(lists.Ending)
}

func (w *words) setHead(class Role, first, all int) {
	w.segments[0] = segment{lists.Word(class), w.start(first), w.ends[all-1], uint8(first), uint8(all)}
	w.read, w.head = 1, 0
}

// takesNoMail reports whether host takes no mail by design: its entry in the
// lists says so, or one of its labels does. class is the entry's.
func takesNoMail(class lists.Class, host []byte) bool {
	return class == lists.NoMail || class == 0 && noReplyPart(host) != nil
}

// noReplyPart returns the part of host from the label that says that nobody
// reads mail there, such as noreply.example.org; nil if there is no such label,
// or if it is the name that somebody registered: a company may be called so.
func noReplyPart(host []byte) []byte {
	for rest := host; ; {
		dot := bytes.IndexByte(rest, '.')
		if dot < 0 {
			return nil
		}
		switch string(rest[:dot]) {
		case "noreply", "no-reply", "donotreply", "do-not-reply":
			// A top-level domain, or a short label below a country's such as co.uk, may be a suffix.
			suffix := rest[dot+1:]
			end := bytes.IndexByte(suffix, '.')
			if end > len("com") || end >= 0 && len(suffix)-end-1 != 2 {
				return rest
			}
		}
		rest = rest[dot+1:]
	}
}
