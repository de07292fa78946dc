package core

import "github.com/addrspec/addrspec/lists"

// wordList finds the words of roles.txt, also where two are glued together. Its
// filters reject most names without a look-up.
type wordList struct {
	lists   *lists.Lists
	starts  triples    // what the words start with
	ends    triples    // what they end with
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
			w.addShortStart(word)
		}
	})
	return w
}

func (l *wordList) addShortStart(word []byte) {
	for c := byte('a'); c <= 'z'; c++ {
		l.starts.add([]byte{word[0], word[1], c})
	}
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

// unglueTwo is unglue for two words.
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
