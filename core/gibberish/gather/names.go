package main

import (
	"archive/zip"
	"compress/bzip2"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

// names collects first and last names by language.
func names(cache string) (sections, error) {
	readings, err := unihan(cache)
	if err != nil {
		return nil, err
	}
	pinyin := mandarin(readings)
	s := sections{}
	if err := fromFakerJS(npmDir(cache, fakerJS), s, pinyin); err != nil {
		return nil, err
	}
	for _, src := range codeSources {
		if err := src.read(cache, s, pinyin); err != nil {
			return nil, err
		}
	}
	return s, japaneseNames(filepath.Join(cache, "deb/usr/share/mecab/dic/ipadic/Noun.name.csv"), s)
}

var han = regexp.MustCompile(`^\p{Han}+$`)

// readingsKept limits the readings of Japanese last names, and those of first names.
const readingsKept = 2500

// japaneseNames adds the readings of the names in a dictionary of MeCab: of those that
// are in its texts most often, which have the lowest costs.
func japaneseNames(dictionary string, s sections) error {
	text, err := os.ReadFile(dictionary)
	if err != nil {
		return err
	}
	text, err = japanese.EUCJP.NewDecoder().Bytes(text)
	if err != nil {
		return err
	}
	costs := map[string]map[string]int{"姓": {}, "名": {}} // last and first names: the lowest cost of each reading
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) < 13 || costs[f[7]] == nil || !han.MatchString(f[0]) { // foreign names are in kana
			continue
		}
		cost, err := strconv.Atoi(f[3])
		if err != nil {
			return err
		}
		if least, known := costs[f[7]][f[11]]; !known || cost < least {
			costs[f[7]][f[11]] = cost
		}
	}
	for kind, section := range map[string]string{"姓": "ja last", "名": "ja first"} {
		for _, name := range cheapest(costs[kind], readingsKept) {
			s.add(section, name, longO['h'].Replace(hiragana(name)), longO['u'].Replace(hiragana(name)))
		}
	}
	return nil
}

// cheapest returns the names with the n lowest costs.
func cheapest(costs map[string]int, n int) []string {
	names := slices.Sorted(maps.Keys(costs))
	slices.SortStableFunc(names, func(a, b string) int { return costs[a] - costs[b] })
	return names[:min(n, len(names))]
}

// longO spells a long o as oh or ou: Satoh, Satou.
var longO = map[rune]*strings.Replacer{'h': spellLongO("h"), 'u': spellLongO("u")}

func spellLongO(as string) *strings.Replacer {
	var pairs []string
	for _, kana := range "おこそとのほもよろごぞどぼょ" {
		pairs = append(pairs, string(kana)+"う", string(kana)+as)
	}
	return strings.NewReplacer(pairs...)
}

// fromFakerJS adds the lists of faker-js. They are a program, so node prints them
// as JSON.
func fromFakerJS(dir string, s sections, pinyin *strings.Replacer) error {
	const program = `import(process.argv[1]).then(({allLocales: all}) => {
		const flat = x => Array.isArray(x) ? x.flatMap(flat) : typeof x === 'object' && x ? Object.values(x).flatMap(flat) : typeof x === 'string' ? [x] : [];
		const out = {};
		for (const [k, l] of Object.entries(all)) for (const part of ['first', 'last']) out[k + ' ' + part] = flat(l.person?.[part + '_name']);
		console.log(JSON.stringify(out));
	})`
	printed, err := exec.Command("node", "-e", program, filepath.Join(dir, "dist/index.js")).Output()
	if err != nil {
		return err
	}
	var lists map[string][]string
	if err := json.Unmarshal(printed, &lists); err != nil {
		return err
	}
	for key, list := range lists {
		locale, part, _ := strings.Cut(key, " ")
		addNames(s, locale, part, list, pinyin)
	}
	return nil
}

// codeSource is a set of source files that assign lists of quoted names to
// variables. The name of the variable or file shows which part of a name they are.
type codeSource struct {
	glob   string         // the files, below the directory of packages
	locale *regexp.Regexp // matches the locale in a path
	list   *regexp.Regexp // matches a list: its name and its text
	word   *regexp.Regexp // matches a word in the text of a list
}

var codeSources = []codeSource{
	{"deb/usr/share/php/Faker/Provider/*/Person.php", regexp.MustCompile(`Provider/(\w+)/`),
		regexp.MustCompile(`(?s)\$((?:first|last|middle)\w*) = (?:\[|array\()(.*?);`), quoted},
	{"pypi/" + fakerPy + "/providers/person/*/__init__.py", regexp.MustCompile(`person/(\w+)/`),
		regexp.MustCompile(`(?s)\n    ((?:first|last|middle)_\w*)[^=\n]*= (?:OrderedDict)?\((.*?)\n    \)`), quoted},
	{"deb/usr/share/rubygems-integration/all/gems/faker-2.21.0/lib/locales/*.yml", regexp.MustCompile(`locales/([\w-]+)\.`),
		regexp.MustCompile(`(?s)\n +(\w*(?:first_name|last_name|surname)\w*): ?\[(.*?)\]`), regexp.MustCompile(`([^\s,"][^,"\n]*)`)},
	{"deb/usr/share/rubygems-integration/all/gems/faker-2.21.0/lib/locales/*.yml", regexp.MustCompile(`locales/([\w-]+)\.`),
		regexp.MustCompile(`\n +(\w*(?:first_name|last_name|surname)\w*):((?:\n +- [^#\n]*)+)`), regexp.MustCompile(`- (.*)`)},
	{"deb/usr/share/rubygems-integration/all/gems/ffaker-2.20.0/lib/ffaker/data/name*/*", regexp.MustCompile(`data/name_?(\w*)/`),
		regexp.MustCompile(`(?s)()(.*)`), regexp.MustCompile(`(.+)`)},
}

var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"([^"]*)"`)

func (src codeSource) read(cache string, s sections, pinyin *strings.Replacer) error {
	paths, err := filepath.Glob(filepath.Join(cache, src.glob))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		locale := src.locale.FindStringSubmatch(path)[1]
		for _, list := range src.list.FindAllStringSubmatch(string(text), -1) {
			var words []string
			for _, m := range src.word.FindAllStringSubmatch(list[2], -1) {
				words = append(words, strings.ReplaceAll(strings.Join(m[1:], ""), `\'`, "'"))
			}
			addNames(s, locale, part(list[1]+filepath.Base(path)), words, pinyin)
		}
	}
	return nil
}

// part returns "first" or "last" for a list of the given name.
func part(list string) string {
	list = strings.ToLower(list)
	if strings.Contains(list, "last") || strings.Contains(list, "surname") {
		return "last"
	}
	return "first"
}

var ageOrMark = regexp.MustCompile(`[({#:].*`)

// addNames adds a list to the section of its language. A name with a brace is a
// template, not a name.
func addNames(s sections, locale, part string, list []string, pinyin *strings.Replacer) {
	section := language(locale)
	if section == "" {
		return
	}
	for _, name := range list {
		if section == "zh" {
			name = pinyin.Replace(name)
		}
		if !strings.Contains(name, "{") {
			s.add(section+" "+part, ageOrMark.ReplaceAllString(name, ""))
		}
	}
}

// mandarin returns a replacer of Chinese characters by their usual reading in
// Mandarin. The readings have tone marks, which latin drops.
func mandarin(readings string) *strings.Replacer {
	var pairs []string
	for _, m := range regexp.MustCompile(`(?m)^U\+(\w+)\tkMandarin\t(\S+)`).FindAllStringSubmatch(readings, -1) {
		point, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil || !utf8.ValidRune(rune(point)) {
			continue
		}
		pairs = append(pairs, string(rune(point)), m[2])
	}
	return strings.NewReplacer(pairs...)
}

// unihan returns Unicode's readings of Chinese characters.
func unihan(cache string) (string, error) {
	f, err := os.Open(filepath.Join(cache, "deb/usr/share/unicode/Unihan_Readings.txt.bz2"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(bzip2.NewReader(f))
	return string(text), err
}

// surnamesKept limits the surnames of the census: a quarter of them are enough
// for the sequences of letters that they have.
const surnamesKept = 41_000

// xlsxString matches a string in the table of strings of a workbook (ECMA-376
// part 1 section 18.4.9).
var xlsxString = regexp.MustCompile(`<t[^>]*>([A-Z]{2,20})</t>`)

// surnames collects the surnames that a hundred people or more of the 2010
// census of the United States had. They come from every part of the world, in
// the spelling of people who type the letters a to z.
func surnames(cache string) (sections, error) {
	text, err := unzipped(filepath.Join(pypiDir(cache, census), "data/Names_2010Census.xlsx"), "xl/sharedStrings.xml")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, m := range xlsxString.FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	slices.Sort(all)
	s := sections{}
	s.add("us last", thin(slices.Compact(all), surnamesKept)...)
	return s, nil
}

// unzipped returns one file of a zip archive.
func unzipped(archive, path string) ([]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// languages maps locales to keys if the key is not the first part of the locale:
// cultures that share a language have keys of their own. A locale with the key ""
// is left out: its script omits vowels or has no romanization here, or it is a
// joke.
var languages = map[string]string{
	"en_GH": "gh", "tw_GH": "gh", "en_NG": "ng", "en_UG": "ug", "en_IN": "in", "en_NP": "np", "en_ZA": "za",
	"en_HK": "hk", "en_SG": "sg", "fr_SN": "sn", "en_TH": "th", "then": "th", "en_PAK": "pk", "mi_NZ": "mi",
	"en_BORK": "", "en_au_ocker": "", "dk": "da", "se": "sv", "nb": "no", "cn": "zh", "tw": "zh", "kr": "ko",
	"br": "pt", "gr": "el", "ua": "uk", "ph": "ph", "mx": "es", "in": "in", "ga": "ga", "": "en", "vn": "vi", "ee": "et",
	"ar": "", "fa": "", "he": "", "ur": "", "dv": "", "th_TH": "", "ku_ckb": "", "ar_SA": "", "kh": "", "en_MS": "ms",
}

// language returns the key of a locale, or "" if the locale is left out.
func language(locale string) string {
	locale = strings.ReplaceAll(locale, "-", "_")
	if key, known := languages[locale]; known {
		return key
	}
	key, _, _ := strings.Cut(locale, "_")
	if key == "fa" || key == "he" || key == "ar" || key == "ur" {
		return ""
	}
	return key
}
