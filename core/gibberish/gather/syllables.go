package main

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// syllables collects the syllables that Chinese and Korean handles are made of:
// pinyin, and Hangul as the Latin letters of the same keys. A list repeats what
// is frequent.
func syllables(cache string) (lists, error) {
	l := lists{}
	readings, err := unihan(cache)
	if err != nil {
		return nil, err
	}
	l["pinyin"] = pinyinSyllables(readings)
	return l, koreanKeys(cache, l)
}

// uses are the readings of a character and how often each occurred in a corpus
// (Unicode Standard Annex 38, kHanyuPinlu): "shì(21327) shi(43)".
var (
	uses    = regexp.MustCompile(`(?m)^U\+\w+\tkHanyuPinlu\t(.*)$`)
	reading = regexp.MustCompile(`(\pL+)\((\d+)\)`)
)

// pinyinSyllables returns every syllable, repeated by the square root of its
// frequency: names use rare syllables more often than texts.
func pinyinSyllables(readings string) (list []string) {
	count := map[string]int{}
	for _, m := range uses.FindAllStringSubmatch(norm.NFC.String(readings), -1) {
		for _, r := range reading.FindAllStringSubmatch(m[1], -1) {
			n, _ := strconv.Atoi(r[2]) // the pattern leaves only digits
			count[usual[0].latin(r[1])] += n
		}
	}
	for _, syllable := range sorted(count) {
		list = append(list, repeated(syllable, 1+int(math.Sqrt(float64(count[syllable]))/16))...)
	}
	return list
}

func repeated(word string, n int) []string { return slices.Repeat([]string{word}, n) }

// koreanList matches a list of Korean names with their weights, koreanName one.
var (
	koreanList = regexp.MustCompile(`(?s)\n    (first|last)_names?\w* = OrderedDict\((.*?)\n    \)`)
	koreanName = regexp.MustCompile(`"(\p{Hangul}+)", ([\d.]+)`)
)

// koreanKeys adds Korean names and words as the letters of their keys. Most
// given names have two syllables, and parents combine them freely, so the first
// and the second ones are lists of their own.
func koreanKeys(cache string, l lists) error {
	text, err := readText(filepath.Join(pypiFolder(cache, fakerPy), "providers/person/ko_KR/__init__.py"))
	if err != nil {
		return err
	}
	for _, list := range koreanList.FindAllStringSubmatch(text, -1) {
		for _, m := range koreanName.FindAllStringSubmatch(list[2], -1) {
			weight, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return err
			}
			if list[1] == "last" { // Kim, the most frequent, has 0.1069
				l["keys last"] = append(l["keys last"], repeated(keysOf(m[1]), 1+int(weight*1000))...)
				continue
			}
			l.addGiven([]rune(m[1]))
		}
	}
	var words []string
	if err := readJSON(filepath.Join(npmFolder(cache, bip39), "src/wordlists/korean.json"), &words); err != nil {
		return err
	}
	for _, w := range words {
		l["keys word"] = append(l["keys word"], keysOf(w))
	}
	return nil
}

func (l lists) addGiven(name []rune) {
	l["keys first"] = append(l["keys first"], keysOf(string(name)))
	if len(name) == 2 {
		l["keys given one"] = append(l["keys given one"], keysOf(string(name[:1])))
		l["keys given two"] = append(l["keys given two"], keysOf(string(name[1:])))
	}
}

// The keys of the Korean standard layout (KS X 5002) by the parts of a
// syllable, without the shift key.
var (
	keysLead  = strings.Fields("r r s e e f a q q t t d w w c z x v g")
	keysVowel = strings.Fields("k o i o j p u p h hk ho hl y n nj np nl b m ml l")
	keysTail  = strings.Split(" r r rt s sw sg e f fr fa fq ft fx fv fg a q qt t t d w c z x v g", " ")
)

// keysOf returns the keys that a Korean types for s.
func keysOf(s string) string { return byParts(s, keysLead, keysVowel, keysTail) }
