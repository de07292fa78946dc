package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// perLanguage and perCountry limit the words of one of them.
const (
	perLanguage = 3000
	perCountry  = 160
)

// wordLists are files with one word a line, by language.
var wordLists = map[string]string{
	"en": "usr/share/dict/american-english-large", "pl": "usr/share/dict/polish",
	"da": snowball("danish"), "nl": snowball("dutch"), "fi": snowball("finnish"), "de": snowball("german"),
	"hu": snowball("hungarian"), "ga": snowball("irish"), "it": snowball("italian"), "no": snowball("norwegian"),
	"pt": snowball("portuguese"), "ro": snowball("romanian"), "ru": snowball("russian"), "es": snowball("spanish"),
	"sv": snowball("swedish"), "tr": snowball("turkish"), "en common": snowball("english"),
}

func snowball(language string) string { return "usr/share/snowball/data/" + language + "/voc.txt" }

// words collects dictionary words by language.
func words(cache string) (sections, error) {
	s := sections{}
	for language, path := range wordLists {
		text, err := os.ReadFile(filepath.Join(cache, "deb", path))
		if err != nil {
			return nil, err
		}
		s.add(language, thin(lowercase(strings.Fields(string(text))), perLanguage)...)
	}
	if err := stopWords(npmDir(cache, stopwords), s); err != nil {
		return nil, err
	}
	return s, seedWords(npmDir(cache, bip39), s)
}

// lowercase returns the words of three bytes or more that consist of lowercase
// letters: no names, abbreviations or possessives.
func lowercase(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool {
		return len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLower(r) })
	})
}

func stopWords(dir string, s sections) error {
	var lists map[string][]string
	if err := readJSON(filepath.Join(dir, "stopwords-iso.json"), &lists); err != nil {
		return err
	}
	for language, list := range lists {
		switch language {
		case "ar", "fa", "he", "ur", "hi", "mr", "bn", "gu", "th", "zh", "ja":
			continue // written without vowels, or without a romanization here
		}
		s.add(language, slices.DeleteFunc(list, func(w string) bool { return len(w) < 3 })...)
	}
	return nil
}

func seedWords(dir string, s sections) error {
	for language, file := range map[string]string{
		"en common": "english", "cs": "czech", "fr": "french", "it": "italian", "pt": "portuguese", "es": "spanish",
		"ja": "japanese", "ko": "korean",
	} {
		var list []string
		if err := readJSON(filepath.Join(dir, "src/wordlists", file+".json"), &list); err != nil {
			return err
		}
		s.add(language, list...)
	}
	return nil
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func readText(path string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text), err
}

// places collects names of towns by country, a sample of each. Surnames and
// company names resemble them, and no other list covers every country.
func places(cache string) (sections, error) {
	file, err := os.ReadFile(filepath.Join(npmDir(cache, cities), "cities.pbf"))
	if err != nil {
		return nil, err
	}
	towns := map[string][]string{}
	for len(file) > 0 {
		size, n := binary.Uvarint(file) // a length-prefixed message
		if n <= 0 || size > uint64(len(file)-n) {
			return nil, fmt.Errorf("malformed town %d bytes before the end", len(file))
		}
		name, country, err := townOf(file[n : n+int(size)])
		file = file[n+int(size):]
		if err != nil {
			return nil, err
		}
		if country != "" && !strings.ContainsAny(name, "(/") {
			towns[country] = append(towns[country], name)
		}
	}
	s := sections{}
	for country, names := range towns {
		slices.Sort(names)
		for _, name := range thin(slices.Compact(names), perCountry) {
			s.add(country, strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })...)
		}
	}
	return s, nil
}

// townOf returns the name (field 2) and the country (field 3) of a town.
func townOf(town []byte) (name, country string, err error) {
	for len(town) > 0 {
		var tag uint64
		var value []byte
		if tag, value, town, err = field(town); err != nil {
			return
		}
		switch tag {
		case 2:
			name = string(value)
		case 3:
			country = string(value)
		}
	}
	return
}

// field reads the first field of a Protocol Buffers message. value is nil for a
// varint; other types than varint and length-delimited are an error.
func field(b []byte) (tag uint64, value, rest []byte, err error) {
	key, n := binary.Uvarint(b)
	size, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, nil, nil, fmt.Errorf("malformed field key %d bytes before the end", len(b))
	}
	b = b[n+m:]
	if key&7 == 0 { // varint
		return key >> 3, nil, b, nil
	}
	if key&7 != 2 || size > uint64(len(b)) {
		return 0, nil, nil, fmt.Errorf("unexpected field %d of type %d", key>>3, key&7)
	}
	return key >> 3, b[:size], b[size:], nil
}
