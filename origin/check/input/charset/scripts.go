package charset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type language struct {
	letters string
	needs   []string // of each the list must have a letter
}

// Windows-1252 has every byte, so a list in any other encoding of one byte a letter can be read as it, wrongly. No
// statistics of letters part names in it from those in Windows-1250, -1254 or -1257: they share most bytes. What
// helps is where a letter can be in a word, and that a list has the letters of one language. The rules are from what
// lists in 30 languages become when they are read as Windows-1252 (charset_test.go).

const (
	signs    = "’ºª"            // that are in some words; see usual
	anywhere = "éóäöüß" + signs // letters that all encodings of Latin letters with them have at the same place
)

var western = []language{
	{"àâæçèêëîïôœùûÿ", []string{"éèç"}}, // French
	{"áíñúç", nil},                      // Spanish
	{"àçèíïòú", nil},                    // Catalan
	{"áâãàçêíôõú", nil},                 // Portuguese
	{"àèìòù", nil},                      // Italian
	{"ëïèê", nil},                       // Dutch, and German
	{"åæø", nil},                        // Danish, Norwegian, Swedish, Finnish
	{"áíúýþðæ", []string{"áíæ", "þðæ"}}, // Icelandic
}

// never matches a word in small letters that is in none of these languages, with what it was.
var never = regexp.MustCompile(strings.Join([]string{
	`[àìòù].`,                       // ň and ě of Czech
	`è[^bcdfglmnprstvxz]|è$`,        // č of Czech and Slovenian
	`è[^aeiouyà-ÿ]+[aioyà-ÿ]`,       // č before a consonant, as in Kočka
	`[çñ]($|[^aeiouáàâãéêíóôõöúü])`, // ń of Polish, ē of Latvian
	`[aiouáéíóú]æ|æ[eiu]`,           // ć of Croatian
	`(^|[^h])ã$|ã[^oe]`,             // ă of Romanian
	`õ($|[^e])`,                     // ő of Hungarian
	`(^|[^aeiouyéó])[ëï]`,           // ė of Lithuanian
	`û($|[^tlc])`,                   // ű of Hungarian
	`œ($|[^u])`,                     // ś of Polish
	`^ð`,                            // đ of Vietnamese
}, "|"))

// In another script, such letters follow each other as they do not here.
var (
	runs  = regexp.MustCompile(`[^\x00-\x7F]{2,}`)
	pairs = regexp.MustCompile(`^([äöüåß]{2}|[çñ][áéíóúâêôãõü]|[áéíóúü][ñç])$`)
)

// usual matches words with a sign: O’Neill and 1º. In Mac Roman or Windows-1250 the sign is a letter.
var usual = regexp.MustCompile(`^([DLO]|Mc|Dell|Dall)’\p{Lu}\p{Ll}*$|^\d+[ºª]$`)

// catalan matches an end that Spanish lists have too, as in Pagès, and no other language in another encoding.
var catalan = regexp.MustCompile(`(ès|à)$`)

func oddWestern(part string) bool {
	small := strings.ToLower(part)
	foreign := slices.ContainsFunc(runs.FindAllString(small, -1), func(run string) bool { return !pairs.MatchString(run) })
	odd := foreign || never.MatchString(small) || capitalInside(part) || strings.ContainsAny(part, signs)
	return odd && !usual.MatchString(part)
}

func capitalInside(word string) bool {
	var before rune
	for _, r := range word {
		if r >= utf8.RuneSelf && unicode.IsUpper(r) && unicode.IsLower(before) {
			return true
		}
		before = r
	}
	return false
}

// alphabets are those of Windows-1251 in small letters, with the apostrophe of Ukrainian.
var alphabets = []language{
	{"абвгдеёжзийклмнопрстуфхцчшщъыьэюя", nil},  // Russian, and Bulgarian
	{"абвгґдеєжзиіїйклмнопрстуфхцчшщьюя’", nil}, // Ukrainian
	{"абвгдеёжзійклмнопрстуўфхцчшыьэюя", nil},   // Belarusian
	{"абвгдђежзијклљмнњопрстћуфхцчџш", nil},     // Serbian
	{"абвгдѓежзѕијклљмнњопрстќуфхцчџш", nil},    // Macedonian
}

// cyrillicWord matches a word in the case of one: KOI8 has the small letters at the place of the capitals.
var cyrillicWord = regexp.MustCompile(`^(\p{Lu}?(\p{Ll}|\p{Ll}’[яюєї])*|\p{Lu}+)$`)

func oddCyrillic(part string) bool {
	latin := strings.ContainsFunc(part, func(r rune) bool { return r < utf8.RuneSelf })
	return latin || !cyrillicWord.MatchString(part)
}

// A letterJudge finds out whether words fit an encoding of one byte a letter: each is like a word, and all are of one
// language.
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
