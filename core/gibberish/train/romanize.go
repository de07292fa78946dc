package main

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// scheme is a romanization: the Latin letters for each letter; "" drops it.
type scheme map[rune]string

// schemeOf reads tables of pairs such as "ж=zh". Later tables override earlier
// ones.
func schemeOf(tables ...string) scheme {
	s := scheme{}
	for _, table := range tables {
		for _, pair := range strings.Fields(table) {
			letter, latin, _ := strings.Cut(pair, "=")
			s[[]rune(letter)[0]] = latin
		}
	}
	return s
}

// Names are typed in more than one romanization: the one that suits English
// pronunciation, and the one in passports.
var (
	alphabets = cyrillic + greek + armenian + georgian + oddLatin
	usual     = []scheme{schemeOf(alphabets), schemeOf(alphabets, passport)}
	schemes   = map[string][]scheme{
		"uk": {schemeOf(alphabets, ukrainian), schemeOf(alphabets, ukrainian, passport)},
		"bg": {schemeOf(alphabets, "х=h щ=sht ъ=a"), schemeOf(alphabets, "х=h щ=sht ъ=u ц=c ж=j")},
		"mk": {schemeOf(alphabets, "х=h"), schemeOf(alphabets, "х=h ж=z ч=c ш=s ц=c")},
		"mn": {schemeOf(alphabets, "ө=u"), schemeOf(alphabets, "х=h")},
		"el": {schemeOf(alphabets), schemeOf(alphabets, "χ=h υ=i β=b")},
	}
)

// schemesOf returns the romanizations used for a language.
func schemesOf(language string) []scheme {
	if s, own := schemes[language]; own {
		return s
	}
	return usual
}

// longOH and longOU spell a long o as oh or ou: Satoh, Satou.
var longOH, longOU = spellLongO("h"), spellLongO("u")

func spellLongO(as string) *strings.Replacer {
	var pairs []string
	for _, kana := range "おこそとのほもよろごぞどぼょ" {
		pairs = append(pairs, string(kana)+"う", string(kana)+as)
	}
	return strings.NewReplacer(pairs...)
}

const (
	cyrillic = `а=a б=b в=v г=g д=d е=e ё=yo ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f
		х=kh ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya і=i ї=yi є=ye ґ=g ў=u ј=j љ=lj њ=nj ђ=dj ћ=c
		ќ=kj ѓ=gj ѕ=dz џ=dz ә=a ғ=g қ=k ң=n ө=o ұ=u ү=u һ=h`
	greek = ` α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch
		ψ=ps ω=o`
	armenian = ` ա=a բ=b գ=g դ=d ե=e զ=z է=e ը=y թ=t ժ=zh ի=i լ=l խ=kh ծ=ts կ=k հ=h ձ=dz ղ=gh ճ=ch մ=m յ=y ն=n
		շ=sh ո=o չ=ch պ=p ջ=j ռ=r ս=s վ=v տ=t ր=r ց=ts ւ=u փ=p ք=k օ=o ֆ=f և=ev`
	georgian = ` ა=a ბ=b გ=g დ=d ე=e ვ=v ზ=z თ=t ი=i კ=k ლ=l მ=m ნ=n ო=o პ=p ჟ=zh რ=r ს=s ტ=t უ=u ფ=p ქ=k ღ=gh
		ყ=q შ=sh ჩ=ch ც=ts ძ=dz წ=ts ჭ=ch ხ=kh ჯ=j ჰ=h`
	passport  = ` й=i ю=iu я=ia ё=e є=ie ї=i ц=ts ω=o η=i `
	ukrainian = ` и=y г=h ґ=g `
	oddLatin  = ` ß=ss æ=ae ø=o đ=d ð=d þ=th ł=l ħ=h ı=i ə=a œ=oe ŋ=ng ŧ=t ĸ=k ɓ=b ɗ=d ƙ=k ɛ=e ɔ=o`
)

// kana romanizes hiragana by the Hepburn system. A long o is mostly one o, as in
// addresses.
var kana = strings.NewReplacer(strings.Fields(`きゃ kya きゅ kyu きょ kyo しゃ sha しゅ shu しょ sho ちゃ cha ちゅ chu
	ちょ cho にゃ nya にゅ nyu にょ nyo ひゃ hya ひゅ hyu ひょ hyo みゃ mya みゅ myu みょ myo りゃ rya りゅ ryu りょ ryo
	ぎゃ gya ぎゅ gyu ぎょ gyo じゃ ja じゅ ju じょ jo びゃ bya びょ byo
	おう o こう ko そう so とう to のう no ほう ho もう mo よう yo ろう ro ごう go ぞう zo どう do ぼう bo ゆう yu ゅう yu
	あ a い i う u え e お o か ka き ki く ku け ke こ ko さ sa し shi す su せ se そ so た ta ち chi つ tsu て te と to
	な na に ni ぬ nu ね ne の no は ha ひ hi ふ fu へ he ほ ho ま ma み mi む mu め me も mo や ya ゆ yu よ yo
	ら ra り ri る ru れ re ろ ro わ wa を o ん n が ga ぎ gi ぐ gu げ ge ご go ざ za じ ji ず zu ぜ ze ぞ zo
	だ da ぢ ji づ zu で de ど do ば ba び bi ぶ bu べ be ぼ bo`)...)

// umlauts spells out umlauts. German and Nordic users do that as often as they
// drop the marks.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "å", "aa", "ø", "oe")

// greekPairs romanizes pairs of Greek letters that are one sound.
var greekPairs = strings.NewReplacer("ου", "ou", "ού", "ou", "μπ", "mp", "ευ", "ef", "αυ", "av")

// latin returns s in the letters a to z as the owner of the name would type it,
// or "" if a letter has no romanization.
func (romanize scheme) latin(s string) string {
	s = greekPairs.Replace(kana.Replace(hiragana(strings.ToLower(s))))
	var out strings.Builder
	for _, r := range norm.NFC.String(hangul(s)) {
		if _, known := romanize[r]; known {
			out.WriteString(romanize[r])
			continue
		}
		for _, r := range norm.NFD.String(string(r)) { // the base letter, then its marks
			letter, known := romanize[r]
			switch {
			case r >= 'a' && r <= 'z':
				out.WriteRune(r)
			case known:
				out.WriteString(letter)
			case unicode.IsLetter(r):
				return ""
			}
		}
	}
	return out.String()
}

// hiragana replaces katakana with hiragana, whose code points are 0x60 lower.
func hiragana(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'ァ' && r <= 'ヶ' {
			return r - 0x60
		}
		return r
	}, s)
}

var (
	hangulLead  = strings.Split("g kk n d tt r m b pp s ss  j jj ch k t p h", " ")
	hangulVowel = strings.Split("a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i", " ")
	hangulTail  = strings.Split(" k k k n n n t l l l l l l l l m p p t t ng t t k t p t", " ")
)

// hangul romanizes Korean syllables by the Revised Romanization, letter by letter.
func hangul(s string) string { return byParts(s, hangulLead, hangulVowel, hangulTail) }

// byParts replaces the lead, the vowel and the tail of each Korean syllable
// (Unicode section 3.12).
func byParts(s string, lead, vowel, tail []string) string {
	var out strings.Builder
	for _, r := range norm.NFC.String(s) {
		if r < 0xAC00 || r > 0xD7A3 {
			out.WriteRune(r)
			continue
		}
		i := int(r - 0xAC00)
		out.WriteString(lead[i/588] + vowel[i%588/28] + tail[i%28])
	}
	return out.String()
}

// The keys of the Korean standard layout (KS X 5002) by the parts of a syllable, without the
// shift key, and the Latin letters of the keys of the Russian one.
var (
	keysLead      = strings.Fields("r r s e e f a q q t t d w w c z x v g")
	keysVowel     = strings.Fields("k o i o j p u p h hk ho hl y n nj np nl b m ml l")
	keysTail      = strings.Split(" r r rt s sw sg e f fr fa fq ft fx fv fg a q qt t t d w c z x v g", " ")
	russianLayout = strings.NewReplacer(strings.Fields(`й q ц w у e к r е t н y г u ш i щ o з p ф a ы s в d а f п g р h
		о j л k д l я z ч x с c м v и b т n ь m`)...)
)

// keysOf returns the keys that a Korean types for s.
func keysOf(s string) string { return byParts(s, keysLead, keysVowel, keysTail) }

var (
	cyrillicWord = regexp.MustCompile(`^\p{Cyrillic}+$`)
	latinWord    = regexp.MustCompile(`^[a-z]{4,12}$`)
	hangulWord   = regexp.MustCompile(`^[가-힣]{2,6}$`)
)

// russianKeys returns the keys of a word of four letters or more, or "" if one of them is
// no letter in the Latin layout.
func russianKeys(word string) string {
	keys := russianLayout.Replace(strings.ToLower(word))
	if !cyrillicWord.MatchString(word) || !latinWord.MatchString(keys) {
		return ""
	}
	return keys
}

// syllables collects what Chinese, Korean and Russian handles are made of: syllables in
// pinyin, and names and words as the Latin letters of the same keys, as typed without
// switching the keyboard. A list repeats what is frequent. Most Korean given names have
// two syllables, and parents combine them freely, so the first and the second ones are
// lists of their own.
func (src source) syllables() (sections, error) {
	unihan, err := src.text("deb/unihan.txt")
	if err != nil {
		return nil, err
	}
	s := sections{"pinyin": pinyinSyllables(unihan)}
	add := func(section, keys string, times int) {
		s[section] = append(s[section], slices.Repeat([]string{keys}, times)...)
	}
	korean, err := src.text("pypi/faker/providers/person/ko_KR/__init__.py")
	if err != nil {
		return nil, err
	}
	list := regexp.MustCompile(`(?s)\n    (first|last)_names?\w* = (?:OrderedDict)?\((.*?)\n    \)`)
	name := regexp.MustCompile(`"(\p{Hangul}+)", ([\d.]+)`)
	for _, list := range list.FindAllStringSubmatch(korean, -1) {
		for _, m := range name.FindAllStringSubmatch(list[2], -1) {
			if list[1] == "first" {
				add("keys first", keysOf(m[1]), 1)
				if given := []rune(m[1]); len(given) == 2 {
					add("keys given one", keysOf(string(given[:1])), 1)
					add("keys given two", keysOf(string(given[1:])), 1)
				}
				continue
			}
			weight, err := strconv.ParseFloat(m[2], 64) // Kim, the most frequent, has 0.1069
			if err != nil {
				return nil, err
			}
			add("keys last", keysOf(m[1]), 1+int(weight*1000))
		}
	}
	var words []string
	if err := src.json("node_modules/bip39/src/wordlists/korean.json", &words); err != nil {
		return nil, err
	}
	named, err := src.cldr("ko")
	if err != nil {
		return nil, err
	}
	words = append(words, named...)
	for _, w := range words {
		if hangulWord.MatchString(norm.NFC.String(w)) {
			add("keys word", keysOf(w), 1)
		}
	}
	s["keys syllable"] = koreanSyllables(words)

	russian, err := src.text("pypi/faker/providers/person/ru_RU/__init__.py")
	if err != nil {
		return nil, err
	}
	words, err = src.cldr("ru")
	if err != nil {
		return nil, err
	}
	lists := map[string][]string{"word": words}
	for _, list := range list.FindAllStringSubmatch(russian, -1) {
		for _, m := range quoted.FindAllStringSubmatch(list[2], -1) {
			lists[list[1]] = append(lists[list[1]], m[1]+m[2])
		}
	}
	for list, words := range lists {
		for _, w := range words {
			if keys := russianKeys(w); keys != "" {
				add("russian keys "+list, keys, 1)
			}
		}
	}
	return s, nil
}

// pinyinSyllables returns every syllable, repeated by the square root of how often it
// occurred in a corpus (Unicode Standard Annex 38, kHanyuPinlu: "shì(21327) shi(43)"):
// names use rare syllables more often than texts.
func pinyinSyllables(readings string) (list []string) {
	character := regexp.MustCompile(`(?m)^U\+\w+\tkHanyuPinlu\t(.*)$`)
	reading := regexp.MustCompile(`(\pL+)\((\d+)\)`)
	count := map[string]int{}
	for _, m := range character.FindAllStringSubmatch(norm.NFC.String(readings), -1) {
		for _, r := range reading.FindAllStringSubmatch(m[1], -1) {
			n, _ := strconv.Atoi(r[2]) // the pattern leaves only digits
			count[usual[0].latin(r[1])] += n
		}
	}
	for _, syllable := range slices.Sorted(maps.Keys(count)) {
		times := 1 + int(math.Sqrt(float64(count[syllable]))/16)
		list = append(list, slices.Repeat([]string{syllable}, times)...)
	}
	return list
}

// koreanSyllables returns the keys of every syllable, repeated by the square root of its
// frequency.
func koreanSyllables(words []string) (list []string) {
	count := map[rune]int{}
	for _, r := range norm.NFC.String(strings.Join(words, "")) {
		if r >= 0xAC00 && r <= 0xD7A3 {
			count[r]++
		}
	}
	for _, r := range slices.Sorted(maps.Keys(count)) {
		times := 1 + int(math.Sqrt(float64(count[r]))/2)
		list = append(list, slices.Repeat([]string{keysOf(string(r))}, times)...)
	}
	return list
}

// cldr returns the words of a language that CLDR has for emoji, countries and languages,
// each once.
func (src source) cldr(language string) ([]string, error) {
	words := map[string]bool{}
	var add func(value any)
	add = func(value any) {
		switch v := value.(type) {
		case string:
			for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return !unicode.IsLetter(r) }) {
				words[w] = true
			}
		case []any:
			for _, item := range v {
				add(item)
			}
		case map[string]any:
			for _, item := range v {
				add(item)
			}
		}
	}
	names := "localenames-full/main/" + language
	for _, path := range []string{"annotations-full/annotations/" + language + "/annotations.json",
		names + "/territories.json", names + "/languages.json"} {
		var file any
		if err := src.json("node_modules/cldr-"+path, &file); err != nil {
			return nil, err
		}
		add(file)
	}
	return slices.Sorted(maps.Keys(words)), nil
}
