package core

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/latin"
	"github.com/addrspec/addrspec/lists"
)

const (
	maxWords     = 6
	maxWordBytes = 64 // of all words: the limit on a local part (RFC 5321 section 4.5.3.1.1)
	maxDigits    = 4  // of a number after a word: a branch, a year
)

// words are the words of a local part, split at ".", "_" and "-" and before
// trailing digits. text has them without separators, so consecutive words can be
// read as one.
type words struct {
	folded     [maxWordBytes]byte // what fold returns
	text       [maxWordBytes]byte
	ends       [maxWords]uint8
	separators [maxWords]byte // before each word; 0 before the first and before trailing digits
	count      int

	segments [maxWords]segment
	read     int  // number of segments
	head     int  // the segment that gave the last role
	shared   bool // anybody can open a mailbox at the host
}

// fold returns local, which is in NFC, with the base letters of accented Latin letters,
// as in roles.txt: buro for büro. Other scripts remain.
func (w *words) fold(local []byte) []byte {
	folded := w.folded[:0]
	for len(local) > 0 {
		r, size := utf8.DecodeRune(local)
		if base := latin.Base(r); base != ' ' {
			folded = append(folded, base)
		} else if !latin.IsMark(r) {
			folded = append(folded, local[:size]...)
		}
		local = local[size:]
	}
	return folded
}

// split splits local into words. It returns false if local cannot be that of a role
// account: an empty word, too many or too long words, or a number that add
// rejects.
func (w *words) split(local []byte) bool {
	if len(local) == 0 || len(local) > maxWordBytes {
		return false
	}
	w.count = 0
	start, at, separator := 0, 0, byte(0)
	for _, b := range local {
		if !isSeparator(b) {
			w.text[at&(maxWordBytes-1)] = b
			at++
			continue
		}
		if at == start || !w.add(start, at, separator) {
			return false
		}
		start, separator = at, b
	}
	return at > start && w.add(start, at, separator)
}

// add adds the word in text[start:end], and its trailing digits as a word of
// their own. It returns false if there is no room or the digits are no branch or
// year. Two letters with a number are initials, except with one digit (hr2).
func (w *words) add(start, end int, separator byte) bool {
	letters := end
	for letters > start && isDigit(w.text[letters-1]) {
		letters--
	}
	digits := end - letters
	if digits > maxDigits || digits > 1 && letters > start && letters-start < 3 {
		return false
	}
	if letters > start && letters < end {
		if !w.append(letters, separator) {
			return false
		}
		separator = 0
	}
	return w.append(end, separator)
}

func (w *words) append(end int, separator byte) bool {
	if w.count == maxWords {
		return false
	}
	w.ends[w.count], w.separators[w.count] = uint8(end), separator
	w.count++
	return true
}

func (w *words) joined(i, end int) []byte { return w.text[w.start(i):w.ends[end-1]] }

func (w *words) start(i int) uint8 {
	if i == 0 {
		return 0
	}
	return w.ends[i-1]
}

// isSeparator reports whether b is one of "-", "." and "_", of which the first two are
// neighbours.
func isSeparator(b byte) bool { return b-'-' <= '.'-'-' || b == '_' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// wordList finds the words of roles.txt, also where two are glued together. Its
// filters reject most names without a lookup.
type wordList struct {
	lists   *lists.Lists
	starts  triples    // of the words' starts
	ends    triples    // of their ends
	markets [32]uint32 // the codes that may be glued to a role word, by first letter
}

func newWordList(l *lists.Lists) *wordList {
	w := &wordList{lists: l}
	l.EachWord(func(word []byte, kind lists.Word) {
		n := len(word)
		if kind.Class() == lists.Market {
			w.markets[word[0]&31] |= 1 << (word[1] & 31)
		}
		switch {
		case n >= 3 && kind.Class() != lists.Phrase:
			w.starts.add(word)
			w.ends.add(word[n-3:])
		case kind.Role() != NoRole: // only a unit can follow: prteam
			for c := byte('a'); c <= 'z'; c++ {
				w.starts.add([]byte{word[0], word[1], c})
			}
		}
	})
	return w
}

// triples is a set of three letters. It may contain more than were added.
type triples [1 << 12 / 8]byte

func (t *triples) add(s []byte) { i := tripleIndex(s); t[i>>3] |= 1 << (i & 7) }

func (t *triples) has(s []byte) bool { i := tripleIndex(s); return t[i>>3]&(1<<(i&7)) != 0 }

func tripleIndex(s []byte) int {
	return (int(s[0]&31)<<7 ^ int(s[1]&31)<<3 ^ int(s[2]&31)*11) & (1<<12 - 1)
}

// The lengths of glued words, in bytes.
const (
	minGlued = 6 // infouk, hrteam
	maxGlued = 32
)

// unglue reports whether word is a role word with its team, region, language or
// department glued on, such as salesteam, infouk or supportbilling, and sets s.
func (l *wordList) unglue(word []byte, s *segment) bool {
	n := len(word)
	if n < minGlued || n > maxGlued || !l.starts.has(word) || !l.ends.has(word[n-3:]) && !l.endsWithMarket(word) {
		return false
	}
	return l.unglueTwo(word, s) || l.endsWithMarket(word) && l.unglueTwo(word[:n-2], s)
}

func (l *wordList) endsWithMarket(word []byte) bool {
	n := len(word)
	return l.markets[word[n-2]&31]&(1<<(word[n-1]&31)) != 0
}

func (l *wordList) unglueTwo(word []byte, s *segment) bool {
	for cut := len(word) - 2; cut >= 2; cut-- {
		before := glueable{l.lists.Word(word[:cut]), cut}
		if before.word == 0 {
			continue
		}
		after := glueable{l.lists.Word(word[cut:]), len(word) - cut}
		switch {
		case before.gluesTo(after, true):
			s.set(before.word, 0, cut)
			return true
		case after.gluesTo(before, false):
			s.set(after.word, cut, len(word))
			return true
		}
	}
	return false
}

// set makes s the role word from start to end of the glued word that s is.
func (s *segment) set(word lists.Word, start, end int) {
	s.word = lists.Word(word.Class()) // its marks are about the word alone
	s.start, s.end = s.start+uint8(start), s.start+uint8(end)
}

// glueable is a listed word with its length.
type glueable struct {
	word lists.Word
	size int
}

// gluesTo reports whether a is a role word that other can be glued to. The
// lengths keep names apart: too many names contain the shorter words.
func (a glueable) gluesTo(other glueable, isAfter bool) bool {
	rank := rankOf(a.word)
	if rank > teamRank && isUnit(other.word) {
		return other.size >= 4 && (isAfter || a.size >= 4)
	}
	if a.size < 4 || rank != fullRank && rank != teamRank {
		return false
	}
	switch other.word.Class() {
	case lists.Market:
		return isAfter
	case NoRole, lists.Code, lists.Phrase:
		return false
	case lists.Place, lists.Noun, lists.Unit:
		return other.size >= 4 || isAfter && other.size == 3
	}
	return rank == fullRank && (other.size >= 4 || other.size == 3 && a.size >= 7)
}
