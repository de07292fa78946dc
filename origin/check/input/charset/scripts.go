package charset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A language is the letters of one that is written in an encoding of one byte a letter.
type language struct {
	letters string
	needs   []string // of each the list must have a letter
}

// alphabets are those of Windows-1251 in small letters, with the apostrophe of Ukrainian.
var alphabets = []language{
	{"абвгдеёжзийклмнопрстуфхцчшщъыьэюя", nil},  // Russian, and Bulgarian
	{"абвгґдеєжзиіїйклмнопрстуфхцчшщьюя’", nil}, // Ukrainian
	{"абвгдеёжзійклмнопрстуўфхцчшыьэюя", nil},   // Belarusian
	{"абвгдђежзијклљмнњопрстћуфхцчџш", nil},     // Serbian
	{"абвгдѓежзѕијклљмнњопрстќуфхцчџш", nil},    // Macedonian
}

// cyrillicWord matches a word in the case of one: KOI8 has the small letters at the place of the
// capitals.
var cyrillicWord = regexp.MustCompile(`^(\p{Lu}?(\p{Ll}|\p{Ll}’[яюєї])*|\p{Lu}+)$`)

func oddCyrillic(part string) bool {
	latin := strings.ContainsFunc(part, func(r rune) bool { return r < utf8.RuneSelf })
	return latin || !cyrillicWord.MatchString(part)
}

// A letterJudge finds out whether words fit an encoding of one byte a letter: each is like a word, and
// all are of one language.
type letterJudge struct {
	name      string
	languages []language
	common    string // letters of all of them
	odd       func(part string) bool

	unlikely bool
	letters  map[rune]bool // small ones that are not ASCII
}

func (j *letterJudge) add(raw string) {
	for _, part := range parts(decode(j.name, raw)) {
		ascii := true
		for _, r := range catalan.ReplaceAllString(strings.ToLower(part), "") {
			if r >= utf8.RuneSelf {
				j.letters[r], ascii = true, false
			}
		}
		j.unlikely = j.unlikely || !ascii && j.odd(part)
	}
}

func (j *letterJudge) fits() bool {
	list := string(slices.Collect(maps.Keys(j.letters)))
	return !j.unlikely && slices.ContainsFunc(j.languages, func(l language) bool {
		return strings.Trim(list, l.letters+j.common) == "" &&
			!slices.ContainsFunc(l.needs, func(some string) bool { return !strings.ContainsAny(list, some) })
	})
}

// An asianJudge finds out whether words fit an encoding of two bytes a letter.
type asianJudge struct {
	name  string
	own   []*unicode.RangeTable // the scripts
	usual [][2]int              // codes that have nearly all characters of names; nil for all

	unlikely bool
	letters  int // of these scripts
	rare     int // characters that are not usual
	single   int // characters of one byte between them: the second bytes of another encoding
}

func asianJudges() []*asianJudge {
	japanese := []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	return []*asianJudge{
		// Kana, and level 1 of JIS X 0208, which has the usual kanji.
		{name: "shift_jis", own: japanese, usual: [][2]int{{0x8140, 0x8396}, {0x889F, 0x9872}}},
		{name: "euc-kr", own: []*unicode.RangeTable{unicode.Hangul}},
		{name: "euc-jp", own: japanese, usual: [][2]int{{0xA1A1, 0xA5FE}, {0xB0A1, 0xCFFE}}},
		{name: "gb18030", own: []*unicode.RangeTable{unicode.Han}},
		{name: "big5", own: []*unicode.RangeTable{unicode.Han}},
	}
}

func (a *asianJudge) add(raw string) {
	for _, r := range decode(a.name, raw) {
		halfWidth := r >= 0xFF61 && r <= 0xFF9F // katakana
		switch {
		case r < utf8.RuneSelf, halfWidth:
			a.single++
		case unicode.In(r, a.own...):
			a.letters++
		case r == utf8.RuneError || unicode.IsLetter(r) && r != 'ー' && r != '々':
			a.unlikely = true
		}
	}
	for n := 0; n+1 < len(raw) && a.usual != nil; n++ {
		code := int(raw[n])<<8 | int(raw[n+1])
		if raw[n] < utf8.RuneSelf || a.name == "shift_jis" && raw[n] >= 0xA0 && raw[n] < 0xE0 {
			continue
		}
		n++
		if !slices.ContainsFunc(a.usual, func(codes [2]int) bool { return codes[0] <= code && code <= codes[1] }) {
			a.rare++
		}
	}
}

func (a *asianJudge) fits() bool {
	return !a.unlikely && a.letters > 3 && a.rare*10 <= a.letters && a.single <= a.letters
}
