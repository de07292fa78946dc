package main

import (
	"encoding/json"
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
	if err := stopWords(npmFolder(cache, stopwords), s); err != nil {
		return nil, err
	}
	return s, seedWords(npmFolder(cache, bip39), s)
}

// lowercase returns the words of three bytes or more that consist of lowercase
// letters: no names, abbreviations or possessives.
func lowercase(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool {
		return len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLower(r) })
	})
}

func stopWords(folder string, s sections) error {
	var lists map[string][]string
	if err := readJSON(filepath.Join(folder, "stopwords-iso.json"), &lists); err != nil {
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

func seedWords(folder string, s sections) error {
	for language, file := range map[string]string{
		"en common": "english", "cs": "czech", "fr": "french", "it": "italian", "pt": "portuguese", "es": "spanish",
		"ja": "japanese", "ko": "korean",
	} {
		var list []string
		if err := readJSON(filepath.Join(folder, "src/wordlists", file+".json"), &list); err != nil {
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
