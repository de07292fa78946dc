package charset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// alphabets are those of Windows-1251 in small letters.
var alphabets = [...]string{
	"абвгдеёжзийклмнопрстуфхцчшщъыьэюя", // Russian, and Bulgarian
	"абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", // Ukrainian
	"абвгдеёжзійклмнопрстуўфхцчшыьэюя",  // Belarusian
	"абвгдђежзијклљмнњопрстћуфхцчџш",    // Serbian
	"абвгдѓежзѕијклљмнњопрстќуфхцчџш",   // Macedonian
}

// A cyrillicJudge finds out whether words fit Windows-1251.
type cyrillicJudge struct {
	letters  map[rune]bool
	unlikely bool
}

// cyrillicWord matches a word in the case of one: KOI8 has the small letters at the place of the
// capitals. The apostrophe is that of Ukrainian.
var cyrillicWord = regexp.MustCompile(`^(\p{Lu}?(\p{Ll}|\p{Ll}’[яюєї])*|\p{Lu}+)$`)

func (j *cyrillicJudge) add(parts []string) {
	for _, part := range parts {
		ascii := strings.IndexFunc(part, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if ascii {
			continue
		}
		j.unlikely = j.unlikely || !cyrillicWord.MatchString(part)
		for _, r := range strings.ToLower(strings.ReplaceAll(part, "’", "")) {
			j.letters[r] = true
		}
	}
}

// fits reports whether all words are of one alphabet.
func (j *cyrillicJudge) fits() bool {
	list := string(slices.Collect(maps.Keys(j.letters)))
	return !j.unlikely && list != "" && slices.ContainsFunc(alphabets[:], func(alphabet string) bool {
		return strings.Trim(list, alphabet) == ""
	})
}

// A shiftJISJudge finds out whether words fit Shift_JIS, which chardet does not know by names: nearly
// all characters are kana or of level 1 of JIS X 0208, which has the usual kanji.
type shiftJISJudge struct {
	unlikely                   bool
	usual, rare, narrow, ascii int
}

func (s *shiftJISJudge) add(raw string) {
	s.unlikely = s.unlikely || strings.Contains(decode("shift_jis", raw), "\uFFFD")
	for n := 0; n < len(raw); n++ {
		c := raw[n]
		switch {
		case c < utf8.RuneSelf:
			s.ascii++
		case c >= 0xA0 && c < 0xE0:
			s.narrow++ // half-width katakana
		case n+1 < len(raw):
			n++
			code := int(c)<<8 | int(raw[n])
			if code >= 0x8140 && code <= 0x8396 || code >= 0x889F && code <= 0x9872 {
				s.usual++
			} else {
				s.rare++
			}
		}
	}
}

func (s *shiftJISJudge) fits() bool {
	return !s.unlikely && s.usual >= 4 && s.rare*10 <= s.usual && s.narrow <= s.usual && s.ascii <= s.usual
}

// An asianJudge finds out whether words fit an encoding of two bytes a letter.
type asianJudge struct {
	name     string
	own      []*unicode.RangeTable // the scripts
	unlikely bool
	letters  int // of these scripts
	ascii    int // between them: the second bytes of another encoding
}

func (a *asianJudge) add(word string) {
	for _, r := range word {
		switch {
		case unicode.In(r, a.own...):
			a.letters++
		case r < utf8.RuneSelf:
			a.ascii++
		case r == utf8.RuneError || unicode.IsLetter(r):
			a.unlikely = true
		}
	}
}

func (a *asianJudge) fits() bool { return !a.unlikely && a.letters > 0 && a.ascii <= a.letters }
