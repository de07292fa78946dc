package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/gibberish"
	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

func readData(t *testing.T) *lexicon {
	l, err := read("../data")
	require.NoError(t, err)
	return l
}

// Changed data require training. This test compares only the digest of the data,
// because training takes too long for a test; check compares the model.
func TestModelIsTrainedOnTheData(t *testing.T) {
	require.True(t, strings.HasSuffix(model.Trained, readData(t).digest), "the data have changed: run train model")
}

// The filter in use is what the data give, and has every name that could be an address of
// temp-mail.org.
func TestFilterIsOfTheData(t *testing.T) {
	inUse, err := os.ReadFile("../names.bin")
	require.NoError(t, err)
	words := readData(t).pronounceable
	require.Greater(t, len(words), 20_000)
	require.True(t, string(filter.New(words)) == string(inUse), "the data have changed: run train model")
	for _, w := range words {
		require.False(t, gibberish.Generated([]byte((w + "52937")[:10])), w)
	}
}

func TestTrainIsDeterministicAndLearns(t *testing.T) {
	l := readData(t)
	trained := train(newGenerator(1, l), 250_000)
	require.Equal(t, trained, train(newGenerator(1, l), 250_000))
	flagged := func(kinds []kind) (percent float64) {
		g := newGenerator(3, l)
		for range 20_000 {
			least := model.Reach * model.MaxName
			for _, reading := range model.Readings(nil, []byte(g.localPart(kinds, 2))) {
				sum := 0
				for _, i := range reading {
					sum += int(int8(trained[i]))
				}
				least = min(least, sum)
			}
			if trained[model.TableSize:][step(least)] >= 50 {
				percent += 100. / 20_000
			}
		}
		return percent
	}
	require.Less(t, flagged(realKinds), 2.0)
	require.Greater(t, flagged(randomKinds), 76.0)
}

func TestDataIsLettersInSections(t *testing.T) {
	for file, least := range map[string]int{"names": 40, "own": 40, "surnames": 1, "places": 40, "words": 40, "syllables": 6} {
		text, err := os.ReadFile("../data/" + file + ".txt")
		require.NoError(t, err)
		s := sections{}
		require.NoError(t, s.parse(string(text)))
		require.GreaterOrEqual(t, len(s), least, file)
		for key, list := range s {
			require.NotEmpty(t, list, key)
			for _, w := range list {
				letters := strings.Trim(w, "abcdefghijklmnopqrstuvwxyz")
				require.True(t, letters == "" || key == "acronyms", "%s: %s: %q", file, key, w)
			}
		}
	}
}

func TestSections(t *testing.T) {
	require.EqualError(t, sections{}.parse("# a comment\nword\n"), "2: a word before the first [section]")
	s := sections{"a": {"one"}}
	require.NoError(t, s.parse("# a comment\n[a]\ntwo three\n[b]\nfour\n"))
	require.Equal(t, sections{"a": {"one", "two", "three"}, "b": {"four"}}, s)
	path := filepath.Join(t.TempDir(), "words.txt")
	require.NoError(t, s.write(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "[a]\none two three\n[b]\nfour\n", string(text))
}

func TestGeneratedLocalPartsAreValid(t *testing.T) {
	g := newGenerator(7, readData(t))
	for _, k := range slices.Concat(realKinds, randomKinds, relayKinds) {
		for range 500 {
			s := k.make(g)
			require.Empty(t, strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-"), "%s: %s", k.name, s)
			require.NotEmpty(t, s, k.name)
		}
	}
}

// People's local parts that look most like typing without a word in mind, and rows of
// a keyboard.
func TestForms(t *testing.T) {
	g := newGenerator(7, readData(t))
	for name, c := range map[string]struct {
		make func(*generator) string
		form string
	}{
		"Chinese phrase":    {phrase, `^[a-z]{3,16}[0-9k]*$`},
		"Korean keys":       {(*generator).korean, `^[a-z]+[0-9k]*$`},
		"Russian keys":      {(*generator).russian, `^[a-z]{4,22}[0-9k]*$`},
		"user id":           {userID, `^[a-z]{1,3}\d{1,2}[a-z]{1,4}\d*$`},
		"initials on a row": {(*generator).rowInitials, `^[a-z]{3}\d{2,8}$`},
		"Arabic chat":       {(*generator).arabicChat, `^[a-z0-9._-]+$`},
		"Dutch particles":   {(*generator).particled, `^([a-z]+[._]?)?v[dhtem]?.*[a-z]`},
		"Polynesian":        {(*generator).polynesian, `^([fghklmnprstvw]?[aeiou][._-]?){3,11}[0-9k]*$`},
		"counts":            {forms(func(d *draft) { d.b = "anna" }, "B2(1|2)a3D14(.)Bo2", ""), `^an[12][a-z]{3}\d{1,4}\.annaaa$`},
	} {
		for range 500 {
			require.Regexp(t, c.form, c.make(g), name)
		}
	}
	for range 500 { // three keys or more, which lie side by side
		s := g.rows()
		require.GreaterOrEqual(t, len(s), 3)
		require.True(t, slices.ContainsFunc(typedRows, func(row string) bool {
			return strings.Contains(row, s[:3]) || strings.Contains(backwards(row), s[:3])
		}), s)
	}
	require.Regexp(t, `^(aannnnaa|aaannnnnnaaa)$`, g.drawnOut("anna", 1))
	require.Equal(t, []string{"heuvel", "meer", "veld", "dijk"},
		withoutParticle([]string{"vandenheuvel", "jansen", "vandermeer", "vantveld", "vandijk", "van", "vandi"}))
}

func TestExp(t *testing.T) {
	for x := -40.0; x <= 40; x += 0.37 {
		require.InEpsilon(t, math.Exp(x), exp(x), 1e-9, "%g", x)
	}
}

// platt recovers a logistic curve from counts that follow it.
func TestPlatt(t *testing.T) {
	var real, random [steps]float64
	for i := range real {
		p := logistic(0.2*float64(i-steps/2) - 1)
		real[i], random[i] = 1-p, p
	}
	slope, offset := platt(&real, &random)
	require.InDelta(t, 0.2, slope, 1e-6)
	require.InDelta(t, -1, offset, 1e-6)
}

// The curve rises, crosses one half where the fitted one does, and leaves few
// sums without a probability.
func TestCurve(t *testing.T) {
	table := curve(slope, offset)
	require.True(t, slices.IsSorted(table))
	crossing := -offset / slope
	require.Less(t, table[step(int(crossing)-1)], byte(50))
	require.GreaterOrEqual(t, table[step(int(crossing)+1)], byte(50))
	require.Equal(t, byte(0), table[0])
	require.Equal(t, byte(100), table[steps-1])
}

func TestQuantizedAndTempered(t *testing.T) {
	for steps, want := range map[float64]int8{0: 0, 0.61: 0, -0.61: 0, 0.63: 1, -0.63: -1, 1.4: 1, -1.6: -2, 300: 127, -300: -127} {
		require.Equal(t, want, quantized(steps/model.Unit), "%g", steps)
	}
	for err, want := range map[float64]float64{0.5: 0.5, -0.6: -0.6, 1: 0.36, -1: -0.36} {
		require.InDelta(t, want, tempered(err), 1e-9)
	}
}

func TestLatin(t *testing.T) {
	for _, c := range []struct{ language, name, latin, otherwise string }{
		{"cs", "Škvorecký", "skvorecky", "skvorecky"},
		{"de", "Weiß", "weiss", "weiss"},
		{"ru", "Чайковский", "chaykovskiy", "chaikovskii"},
		{"uk", "Гайовий", "hayovyy", "haiovyi"},
		{"bg", "Щерев", "shterev", "shterev"},
		{"mk", "Џамбаз", "dzambaz", "dzambaz"},
		{"el", "Παπαδόπουλος", "papadopoulos", "papadopoulos"},
		{"hy", "Հակոբյան", "hakobyan", "hakobyan"},
		{"ka", "გიორგაძე", "giorgadze", "giorgadze"},
		{"ko", "김민수", "gimminsu", "gimminsu"},
		{"ja", "ひろゆき", "hiroyuki", "hiroyuki"},
		{"ja", "キョウコ", "kyouko", "kyouko"},
		{"vi", "Nguyễn Thị Đào", "nguyenthidao", "nguyenthidao"},
		{"he", "דוד", "", ""}, // written without vowels: left out
	} {
		s := schemesOf(c.language)
		require.Equal(t, c.latin, s[0].latin(c.name), c.name)
		require.Equal(t, c.otherwise, s[1].latin(c.name), c.name)
	}
}

func TestKeys(t *testing.T) {
	for name, keys := range map[string]string{"김민수": "rlaalstn", "값": "rkqt", "빵": "qkd", "과": "rhk"} {
		require.Equal(t, keys, keysOf(name), name)
	}
	// The others have keys without a letter in Latin, or too few.
	for word, keys := range map[string]string{"Никита": "ybrbnf", "Фёдор": "", "объект": "", "ёж": "", "play": "", "Эхо": ""} {
		require.Equal(t, keys, russianKeys(word), word)
	}
	require.False(t, hangulWord.MatchString("ㅋㅋㅋ"), "letters without a syllable")
	require.Equal(t, []string{keysOf("나"), keysOf("무"), keysOf("무")}, koreanSyllables([]string{"나무", "무", "무무", "ㅋㅋ", "abc"}))
	require.Equal(t, []string{"shi", "shi", "yi"}, pinyinSyllables("U+4E00\tkHanyuPinlu\tyī(43)\nU+662F\tkHanyuPinlu\tshì(250) shi(43)\n"))
}

func TestJapaneseNames(t *testing.T) {
	text := "佐藤,1,1,5000,名詞,固有名詞,人名,姓,*,*,佐藤,サトウ,サトー\n" +
		"大島,1,1,7000,名詞,固有名詞,人名,姓,*,*,大島,オオシマ,オーシマ\n" +
		"ブラウン,1,1,100,名詞,固有名詞,人名,姓,*,*,ブラウン,ブラウン,ブラウン\n" +
		"健一,1,1,6000,名詞,固有名詞,人名,名,*,*,健一,ケンイチ,ケンイチ\n" +
		"何か,1,1,6000,名詞,固有名詞,人名,一般,*,*,何か,ナニカ,ナニカ\n"
	f := found{}
	require.NoError(t, f.addJapanese(text))
	require.Equal(t, found{
		"ja last":  {"sato": true, "satoh": true, "satou": true, "ooshima": true},
		"ja first": {"kenichi": true},
	}, f)
}

func TestLanguage(t *testing.T) {
	for locale, key := range map[string]string{
		"cs_CZ": "cs", "en-US": "en", "en_GH": "gh", "tw_GH": "gh", "fa_IR": "", "ar_EG": "", "en-BORK": "", "zh_TW": "zh",
	} {
		require.Equal(t, key, language(locale), locale)
	}
}

func TestThin(t *testing.T) {
	words := strings.Fields("a b c d e f g h i j")
	require.Equal(t, words, thin(words, 10))
	require.Equal(t, []string{"a", "d", "g", "j"}, thin(words, 4))
	require.Empty(t, thin(nil, 4))
}
