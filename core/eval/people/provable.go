package people

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mozillazg/go-unidecode"
)

// provable reports whether a local part is made from one of the names beside it.
// A name counts if it has two words or more, or is in Chinese characters.
func provable(local string, names []string) bool {
	letters := onlyLetters(unidecode.Unidecode(local))
	return slices.ContainsFunc(names, func(name string) bool {
		if !twoWords.MatchString(strings.TrimSpace(name)) && !han.MatchString(name) {
			return false
		}
		words := wordsOf(name)
		return len(words) >= 2 && len(letters) >= 2 && madeFrom(letters, words)
	})
}

var (
	twoWords  = regexp.MustCompile(`\S\s+\S`)
	han       = regexp.MustCompile(`\p{Han}`)
	brackets  = regexp.MustCompile(`\(.*?\)|\[.*?\]`)
	camelCase = regexp.MustCompile(`([a-z])([A-Z])`)
	noLetters = regexp.MustCompile(`[^A-Za-z]+`)
)

// madeFrom reports whether letters are the initials of words, contain one of
// four letters or more, or leave out letters of all of them in either order.
func madeFrom(letters string, words []string) bool {
	initials := ""
	for _, w := range words {
		initials += w[:1]
	}
	if letters == initials || letters == reversed(initials) {
		return true
	}
	if slices.ContainsFunc(words, func(w string) bool { return len(w) >= 4 && strings.Contains(letters, w) }) {
		return true
	}
	joined := strings.Join(words, "")
	slices.Reverse(words)
	return len(letters) >= 4 && strings.Contains(initials, letters[:1]) &&
		(subsequence(letters, joined) || subsequence(letters, strings.Join(words, "")))
}

// wordsOf returns the different words of a name in the letters a to z. Chinese
// characters are a word each, in pinyin.
func wordsOf(name string) (words []string) {
	latin := unidecode.Unidecode(brackets.ReplaceAllString(name, ""))
	for _, w := range noLetters.Split(camelCase.ReplaceAllString(latin, "$1 $2"), -1) {
		if w = onlyLetters(w); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// onlyLetters returns the letters of s in lower case.
func onlyLetters(s string) string {
	return noLetters.ReplaceAllString(strings.ToLower(s), "")
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// subsequence reports whether s is t with some characters left out.
func subsequence(s, t string) bool {
	i := 0
	for j := 0; i < len(s) && j < len(t); j++ {
		if s[i] == t[j] {
			i++
		}
	}
	return i == len(s)
}
