package core

import "github.com/addrspec/addrspec/lists"

const (
	maxWords     = 6
	maxWordBytes = 64 // of all words: the limit on a local part (RFC 5321 section 4.5.3.1.1)
	maxDigits    = 4  // of a number after a word: a branch, a year
)

// words are the words of a local part, split at ".", "_" and "-" and before
// trailing digits. text has them without separators, so consecutive words can be
// read as one.
type words struct {
	text       [maxWordBytes]byte
	ends       [maxWords]uint8
	separators [maxWords]byte // before each word; 0 before the first and before trailing digits
	count      int

	segments [maxWords]segment
	read     int // number of segments
	head     int // the segment that gave the last role
}

// split splits local into words. It returns false if local is not that of a role
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

// joined returns the words from i up to, but not including, end as one word.
func (w *words) joined(i, end int) []byte { return w.text[w.start(i):w.ends[end-1]] }

// start returns where word i starts in text.
func (w *words) start(i int) uint8 {
	if i == 0 {
		return 0
	}
	return w.ends[i-1]
}

// mayJoin reports whether the words from i to end may be one word spelled with
// separators. A single letter may not begin it, since it is an initial (h.r is a
// person); the exception is the e of e-mail. Two letters may not end it if they
// follow a listed word, since they are initials or a code: dev.el is not devel.
func (w *words) mayJoin(l *lists.Lists, i, end int) bool {
	first, last := w.joined(i, i+1), w.joined(end-1, end)
	if len(last) <= 2 && l.Word(w.joined(i, end-1)) != 0 {
		return false
	}
	return len(first) > 1 || first[0] == 'e'
}

// isNumber reports whether word i consists of digits.
func (w *words) isNumber(i int) bool {
	return isDigit(w.joined(i, i+1)[0]) && isDigit(w.text[w.ends[i]-1])
}

// isSeparator reports whether b is one of "-", "." and "_", of which the first two are
// neighbours.
func isSeparator(b byte) bool { return b-'-' <= '.'-'-' || b == '_' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
