package charset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Windows-1252 has every byte, so a list in any other encoding of one byte a letter can be read as
// it, wrongly. No statistics of letters tell names in it from those in Windows-1250, -1254 or
// -1257: they share most bytes. What helps is where a letter can be in a word, and that a list
// has the letters of one language. The rules are from what lists in 30 languages become when they
// are read as Windows-1252 (charset_test.go).

// A language is the letters of one that is written in Windows-1252, besides those of any.
type language struct {
	letters string
	needs   []string // of each the list must have a letter
}

// anywhere are the letters that all encodings of Latin letters with them have at the same place.
const anywhere = "éóäöüß"

var western = [...]language{
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

// catalan matches an end that Spanish lists have too, as in Pagès and Solà, and no other language in
// another encoding.
var catalan = regexp.MustCompile(`(ès|à)$`)

// A westernJudge finds out whether words fit Windows-1252.
type westernJudge struct {
	letters  map[rune]bool
	unlikely bool
}

// add judges the decoded parts of a word.
func (j *westernJudge) add(parts []string) {
	for _, part := range parts {
		if usual.MatchString(part) {
			continue
		}
		small := catalan.ReplaceAllString(strings.ToLower(part), "")
		j.unlikely = j.unlikely || capitalInside(part) || never.MatchString(small) ||
			slices.ContainsFunc(runs.FindAllString(small, -1), func(run string) bool { return !pairs.MatchString(run) })
		for _, r := range small {
			if r >= utf8.RuneSelf {
				j.letters[r] = true
			}
		}
	}
}

// fits reports whether all words are of one language.
func (j *westernJudge) fits() bool {
	if j.unlikely {
		return false
	}
	list := string(slices.Collect(maps.Keys(j.letters)))
	return slices.ContainsFunc(western[:], func(l language) bool {
		return strings.Trim(list, l.letters+anywhere) == "" &&
			!slices.ContainsFunc(l.needs, func(some string) bool { return !strings.ContainsAny(list, some) })
	})
}

// capitalInside reports whether a capital letter that is not ASCII follows a small one.
func capitalInside(word string) bool {
	var before rune
	for _, r := range word {
		if r >= 0x80 && unicode.IsUpper(r) && unicode.IsLower(before) {
			return true
		}
		before = r
	}
	return false
}
