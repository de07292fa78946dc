// Package charset reads lists in the encodings of the WHATWG Encoding Standard, and finds out which one a list has
// that is no UTF-8.
//
// No letter is read wrongly in silence: an encoding is found only if every different word of the list that is not
// ASCII fits it, and no other one as well (judge.go, scripts.go). Else the error has the encodings in which the words
// are words at all, with samples, and the user chooses.
package charset

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	UTF8    = "utf-8"
	UTF16LE = "utf-16le"
	UTF16BE = "utf-16be"
)

// Name returns the name of the encoding with a label of the WHATWG Encoding Standard: windows-1252 for latin1.
func Name(label string) (string, error) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return "", fmt.Errorf("there is no encoding %q: use auto or a label of the WHATWG Encoding Standard "+
			"(https://encoding.spec.whatwg.org/#names-and-labels), such as utf-8, windows-1250, iso-8859-2, "+
			"windows-1254, koi8-r, macintosh, shift_jis, euc-jp, gb18030, big5 or euc-kr", label)
	}
	name, err := htmlindex.Name(e)
	if name == "replacement" || name == "x-user-defined" || err != nil {
		return "", fmt.Errorf("the encoding %q has no text", label)
	}
	return name, nil
}

// NewReader decodes what is in an encoding that Name returned. What is no character becomes U+FFFD, but for UTF-8.
func NewReader(in io.Reader, name string) io.Reader {
	if name == UTF8 {
		return in
	}
	return get(name).NewDecoder().Reader(in)
}

func get(name string) encoding.Encoding {
	e, err := htmlindex.Get(name)
	if err != nil {
		panic(err) // Name did not return it
	}
	return e
}

func decode(name, raw string) string {
	text, err := get(name).NewDecoder().String(raw)
	if err != nil {
		return "\uFFFD"
	}
	return text
}

// Undecided is the error of a list whose encoding was not found. It has those in which the words are words.
type Undecided struct{ Fits []Fit }

// A Fit is an encoding, and words of the list as it reads them.
type Fit struct {
	Name   string
	Sample []string
	score  int
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
	maxFits    = 8
	maxSample  = 4  // words of a fit
	maxLetters = 24 // of such a word
)

func undecided(words []string) *Undecided {
	var fits []Fit
	for _, name := range choices {
		f := Fit{Name: name}
		for _, raw := range words {
			word := decode(name, raw)
			f.score += likeness(word)
			if len(f.Sample) < maxSample {
				if letters := []rune(word); len(letters) > maxLetters {
					word = string(letters[:maxLetters]) + "…"
				}
				f.Sample = append(f.Sample, word)
			}
		}
		same := slices.ContainsFunc(fits, func(other Fit) bool { return slices.Equal(other.Sample, f.Sample) })
		if f.score > 0 && !same {
			fits = append(fits, f)
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return b.score - a.score })
	return &Undecided{fits[:min(len(fits), maxFits)]}
}

var scriptsOfNames = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew,
	unicode.Arabic, unicode.Thai, unicode.Han, unicode.Hangul, unicode.Katakana, unicode.Hiragana}

// likeness is how much a decoded word is like a word: letters of one script, no signs.
func likeness(word string) int {
	scripts := map[*unicode.RangeTable]bool{}
	for _, r := range word {
		at := slices.IndexFunc(scriptsOfNames, func(script *unicode.RangeTable) bool { return unicode.Is(script, r) })
		switch {
		case unicode.IsLetter(r) && at >= 0:
			scripts[scriptsOfNames[at]] = true
		case r < utf8.RuneSelf, unicode.IsMark(r), unicode.IsSpace(r), r == '’':
		case unicode.IsLetter(r):
			return -1
		default:
			return -2
		}
	}
	if capitalInside(word) || len(scripts) > 2 || len(scripts) == 2 && !scripts[unicode.Han] {
		return -1
	}
	return 1
}
