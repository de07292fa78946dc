package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/japanese"
)

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

func TestKeysOf(t *testing.T) {
	for name, keys := range map[string]string{"김민수": "rlaalstn", "값": "rkqt", "빵": "Qkd", "과": "rhk"} {
		require.Equal(t, strings.ToLower(keys), keysOf(name), name)
	}
}

func TestRussianKeys(t *testing.T) {
	l := lists{}
	for _, word := range []string{"Никита", "Фёдор", "объект", "ёж", "play", "Эхо"} {
		l.addRussian("words", word)
	}
	require.Equal(t, lists{"words": {"ybrbnf"}}, l) // the others have keys without a letter in Latin, or too few
}

func TestKoreanSyllables(t *testing.T) {
	require.Equal(t, []string{keysOf("나"), keysOf("무"), keysOf("무")}, koreanSyllables([]string{"나무", "무", "무무", "ㅋㅋ", "abc"}))
	require.True(t, hangulWord.MatchString("나무"))
	require.False(t, hangulWord.MatchString("ㅋㅋㅋ"), "letters without a syllable")
}

func TestWordsOfCLDR(t *testing.T) {
	found := set{}
	found.addTexts(map[string]any{"a": []any{"여는 중괄호", "괄호"}, "b": map[string]any{"tts": "눈-사람", "n": 7.0}})
	require.Equal(t, set{"여는": true, "중괄호": true, "괄호": true, "눈": true, "사람": true}, found)
}

func TestJapaneseNames(t *testing.T) {
	text := "佐藤,1,1,5000,名詞,固有名詞,人名,姓,*,*,佐藤,サトウ,サトー\n" +
		"大島,1,1,7000,名詞,固有名詞,人名,姓,*,*,大島,オオシマ,オーシマ\n" +
		"ブラウン,1,1,100,名詞,固有名詞,人名,姓,*,*,ブラウン,ブラウン,ブラウン\n" +
		"健一,1,1,6000,名詞,固有名詞,人名,名,*,*,健一,ケンイチ,ケンイチ\n" +
		"何か,1,1,6000,名詞,固有名詞,人名,一般,*,*,何か,ナニカ,ナニカ\n"
	encoded, err := japanese.EUCJP.NewEncoder().String(text)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "names.csv")
	require.NoError(t, os.WriteFile(path, []byte(encoded), 0o600))
	s := sections{}
	require.NoError(t, japaneseNames(path, s))
	require.Equal(t, sections{
		"ja last":  {"sato": true, "satoh": true, "satou": true, "ooshima": true},
		"ja first": {"kenichi": true},
	}, s)
	require.Equal(t, []string{"b", "a"}, cheapest(map[string]int{"a": 2, "b": 1, "c": 3}, 2))
}

func TestPinyinSyllables(t *testing.T) {
	require.Equal(t, []string{"shi", "shi", "yi"}, pinyinSyllables("U+4E00\tkHanyuPinlu\tyī(43)\nU+662F\tkHanyuPinlu\tshì(250) shi(43)\n"))
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

func TestWriteBelow(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeBelow(dir, "package/dist/index.js", []byte("x")))
	require.FileExists(t, filepath.Join(dir, "dist/index.js"))
	require.EqualError(t, writeBelow(dir, "package/../../x", nil), `"../../x" is outside the package`)
	require.Error(t, writeBelow(dir, "package", nil), "a path without a directory")
}

func TestTownOf(t *testing.T) {
	name, country, err := townOf([]byte("\x08\x05\x12\x04Brno\x1a\x02CZ\x48\x01"))
	require.NoError(t, err)
	require.Equal(t, "Brno", name)
	require.Equal(t, "CZ", country)
	_, _, err = townOf([]byte("\x12\x09Brno"))
	require.ErrorContains(t, err, "unexpected field 2")
}

func FuzzTownOf(f *testing.F) {
	f.Add([]byte("\x08\x05\x12\x04Brno\x1a\x02CZ")) // a town
	f.Add([]byte("\x12\xff\xff\xff\xff\x0f"))       // a length beyond the end
	f.Add([]byte{0x80})                             // a truncated varint
	f.Fuzz(func(t *testing.T, town []byte) {
		name, country, _ := townOf(town)
		require.LessOrEqual(t, len(name)+len(country), len(town))
	})
}
