package charset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Undecided is the error of a list whose encoding was not found.
type Undecided struct {
	// Fits has the encodings in which the words are words.
	Fits []Fit
}

// A Fit is an encoding, and words of the list as it reads them.
type Fit struct {
	Name   string
	Sample []string
}

// Error lists the encodings with their samples, one a line.
func (u *Undecided) Error() string {
	text := strings.Builder{}
	text.WriteString("this is not UTF-8, and its encoding is not certain; " +
		"give the one that reads these words rightly:")
	width := 0
	for _, fit := range u.Fits {
		width = max(width, len(fit.Name))
	}
	for _, fit := range u.Fits {
		fmt.Fprintf(&text, "\n  --encoding %-*s  %s", width, fit.Name, strings.Join(fit.Sample, ", "))
	}
	text.WriteString("\nor save the list as UTF-8")
	return text.String()
}

// choices are the encodings that an error offers, the usual ones first.
var choices = []string{"windows-1252", "windows-1250", "iso-8859-2", "windows-1251", "windows-1254", "windows-1257",
	"shift_jis", "gb18030", "big5", "euc-kr", "euc-jp", "koi8-u", "windows-1253", "windows-1255", "windows-1256",
	"windows-1258", "windows-874", "macintosh", "x-mac-cyrillic", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "ibm866"}

const (
	maxFits   = 8
	maxSample = 4 // words of a fit

	maxLetters = 24 // of such a word
)

// undecided returns the encodings that make most of the words look like words.
func undecided(words []string) *Undecided {
	type ranked struct {
		Fit
		score int
	}
	var all []ranked
	for _, name := range choices {
		r := ranked{Fit: Fit{Name: name}}
		for _, raw := range words {
			word := decode(name, raw)
			r.score += likeness(word)
			if len(r.Sample) < maxSample {
				if letters := []rune(word); len(letters) > maxLetters {
					word = string(letters[:maxLetters]) + "…"
				}
				r.Sample = append(r.Sample, word)
			}
		}
		same := slices.ContainsFunc(all, func(other ranked) bool { return slices.Equal(other.Sample, r.Sample) })
		if r.score > 0 && !same {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return b.score - a.score })
	u := &Undecided{}
	for _, r := range all[:min(len(all), maxFits)] {
		u.Fits = append(u.Fits, r.Fit)
	}
	return u
}

var scriptsOfNames = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew,
	unicode.Arabic, unicode.Thai, unicode.Han, unicode.Hangul, unicode.Katakana, unicode.Hiragana}

// likeness is how much a decoded word is like a word: letters of one script, no signs.
func likeness(word string) int {
	scripts := map[*unicode.RangeTable]bool{}
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			if unicode.IsLetter(r) {
				scripts[unicode.Latin] = true
			}
		case r == utf8.RuneError, !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsSpace(r) && r != '’':
			return -2
		case !unicode.IsLetter(r):
		default:
			known := false
			for _, script := range scriptsOfNames {
				if unicode.Is(script, r) {
					scripts[script], known = true, true
				}
			}
			if !known {
				return -1
			}
		}
	}
	if capitalInside(word) || len(scripts) > 2 || len(scripts) == 2 && !scripts[unicode.Han] {
		return -1
	}
	return 1
}
