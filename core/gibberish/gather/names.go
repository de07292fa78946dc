package main

import (
	"compress/bzip2"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// names collects first and last names by language.
func names(cache string) (sections, error) {
	readings, err := unihan(cache)
	if err != nil {
		return nil, err
	}
	pinyin := mandarin(readings)
	s := sections{}
	if err := fromFakerJS(npmFolder(cache, fakerJS), s, pinyin); err != nil {
		return nil, err
	}
	for _, src := range codeSources {
		if err := src.read(cache, s, pinyin); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// fromFakerJS adds the lists of faker-js. They are a program, so node prints them
// as JSON.
func fromFakerJS(folder string, s sections, pinyin *strings.Replacer) error {
	const program = `import(process.argv[1]).then(({allLocales: all}) => {
		const flat = x => Array.isArray(x) ? x.flatMap(flat) : typeof x === 'object' && x ? Object.values(x).flatMap(flat) : typeof x === 'string' ? [x] : [];
		const out = {};
		for (const [k, l] of Object.entries(all)) for (const part of ['first', 'last']) out[k + ' ' + part] = flat(l.person?.[part + '_name']);
		console.log(JSON.stringify(out));
	})`
	printed, err := exec.Command("node", "-e", program, filepath.Join(folder, "dist/index.js")).Output()
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
	glob   string         // the files, below the folder of packages
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
