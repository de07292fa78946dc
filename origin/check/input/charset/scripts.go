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
