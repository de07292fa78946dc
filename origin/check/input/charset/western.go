package charset

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Windows-1252 has every byte, so a list in any other encoding of one byte a letter can be read as
// it, wrongly. No statistics of letters part names in it from those in Windows-1250, -1254 or
// -1257: they share most bytes. What helps is where a letter can be in a word, and that a list
// has the letters of one language. The rules are from what lists in 30 languages become when they
// are read as Windows-1252 (charset_test.go).

const (
	signs = "’ºª" // that are in some words; see usual
	// anywhere are the letters that all encodings of Latin letters with them have at the same place.
	anywhere = "éóäöüß" + signs
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

// catalan matches an end that Spanish lists have too, as in Pagès and Solà, and no other language in
// another encoding.
var catalan = regexp.MustCompile(`(ès|à)$`)

// oddWestern reports whether a part of a word is in none of these languages.
func oddWestern(part string) bool {
	small := strings.ToLower(part)
	foreign := slices.ContainsFunc(runs.FindAllString(small, -1), func(run string) bool { return !pairs.MatchString(run) })
	odd := foreign || never.MatchString(small) || capitalInside(part) || strings.ContainsAny(part, signs)
	return odd && !usual.MatchString(part)
}

// capitalInside reports whether a capital letter that is not ASCII follows a small one.
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
