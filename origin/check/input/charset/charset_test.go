package charset

import (
	_ "embed"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// names has words of names, towns and streets by language. They are from Faker 40.63 (MIT).
//
//go:embed testdata/names.txt
var names string

// written are the encodings in which lists of a language are.
var written = map[string]string{
	"cs": "windows-1250 iso-8859-2", "sk": "windows-1250 iso-8859-2", "pl": "windows-1250 iso-8859-2",
	"hu": "windows-1250 iso-8859-2", "ro": "iso-8859-16", "hr": "windows-1250 iso-8859-2", "sl": "windows-1250 iso-8859-2",
	"tr": "windows-1254", "lv": "windows-1257 iso-8859-4", "lt": "windows-1257 iso-8859-13", "et": "windows-1257",
	"de": "windows-1252 macintosh", "fr": "windows-1252 macintosh iso-8859-15", "es": "windows-1252 macintosh",
	"pt": "windows-1252 macintosh", "it": "windows-1252 macintosh", "nl": "windows-1252 macintosh",
	"sv": "windows-1252 macintosh", "da": "windows-1252 macintosh", "no": "windows-1252 macintosh", "fi": "windows-1252 macintosh",
	"ru": "windows-1251 koi8-r x-mac-cyrillic iso-8859-5 ibm866", "uk": "windows-1251 koi8-u x-mac-cyrillic",
	"bg": "windows-1251 x-mac-cyrillic", "el": "windows-1253 iso-8859-7", "he": "windows-1255 iso-8859-8",
	"ar": "windows-1256 iso-8859-6", "th": "windows-874", "ja": "shift_jis euc-jp", "zh-CN": "gb18030", "zh-TW": "big5",
	"ko": "euc-kr", "vi": "windows-1258",
}

// lists calls test with lists in every language and encoding, of five words and of more.
func lists(test func(language, encoding, text, raw string)) {
	random := rand.New(rand.NewPCG(1, 2))
	for line := range strings.Lines(names) {
		language, list, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for encoding := range strings.FieldsSeq(written[language]) {
			var words []string
			for word := range strings.FieldsSeq(list) {
				raw, err := get(encoding).NewEncoder().String(word)
				if err == nil && decode(encoding, raw) == word {
					words = append(words, word)
				}
			}
			for n := range 25 {
				random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
				text := "name;email\r\n"
				for _, word := range words[:min(5+n%20, len(words))] {
					text += word + ";a@mail.example\r\n"
				}
				raw, _ := get(encoding).NewEncoder().String(text)
				test(language, encoding, text, raw)
			}
		}
	}
}

// TestNoWrongLetter: in lists with at least five different words that are not ASCII, no letter is read wrongly
// without an error or a sign that it could not be read; and those encodings that are to be found are.
func TestNoWrongLetter(t *testing.T) {
	found, all := map[string]int{}, map[string]int{}
	lists(func(language, encoding, text, raw string) {
		all[language+" "+encoding]++
		name, _, err := Detect(strings.NewReader(raw), 1)
		if err != nil {
			require.ErrorAs(t, err, new(*Undecided))
			return
		}
		if name != UTF8 || utf8.ValidString(raw) {
			require.Equal(t, text, decode(name, raw), "%s in %s was read as %s", language, encoding, name)
			found[language+" "+encoding]++
		}
	})
	require.Greater(t, len(all), 50)
	for _, usual := range []string{"de windows-1252", "es windows-1252", "sv windows-1252", "da windows-1252", "no windows-1252",
		"fi windows-1252", "ru windows-1251", "uk windows-1251", "bg windows-1251", "ja shift_jis"} {
		require.Greater(t, found[usual]*100, 90*all[usual], "%s: %d of %d", usual, found[usual], all[usual])
	}
	for _, long := range []string{"zh-CN gb18030", "zh-TW big5", "ko euc-kr", "fr windows-1252", "pt windows-1252", "nl windows-1252"} {
		require.NotZero(t, found[long], long)
	}
	require.Zero(t, found["pl windows-1250"]+found["tr windows-1254"]+found["ru koi8-r"]+found["el windows-1253"])
}

// TestUndecided: the error has the right encoding, with a sample, among the few that fit.
func TestUndecided(t *testing.T) {
	shown, all := map[string]int{}, map[string]int{}
	lists(func(language, encoding, text, raw string) {
		_, _, err := Detect(strings.NewReader(raw), 1)
		undecided, _ := errors.AsType[*Undecided](err)
		if undecided == nil {
			return
		}
		require.LessOrEqual(t, len(undecided.Fits), maxFits)
		all[encoding]++
		if slices.ContainsFunc(undecided.Fits, func(fit Fit) bool { return strings.Contains(text, fit.Sample[0]) }) {
			shown[encoding]++
		}
	})
	for _, usual := range []string{"windows-1250", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256",
		"windows-1257", "windows-874", "koi8-r", "macintosh", "euc-jp", "gb18030", "big5", "euc-kr"} {
		require.Greater(t, shown[usual]*100, 90*all[usual], "%s: %d of %d", usual, shown[usual], all[usual])
	}
	require.Greater(t, len(slices.Collect(maps.Keys(all))), 20)

	_, _, err := Detect(strings.NewReader("\xa3uczak\nWi\x9cniewska\n"), 1)
	require.EqualError(t, err, "this is not UTF-8, and its encoding is not certain; give the one that reads these words rightly:"+
		"\n  --encoding windows-1250  Łuczak, Wiśniewska\nor save the list as UTF-8")
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct{ in, name, why string }{
		"nothing":               {"", UTF8, "all of it is ASCII"},
		"ASCII":                 {"a@mail.example\n", UTF8, "all of it is ASCII"},
		"UTF-8":                 {"jörg@mail.example\nŁuczak\n", UTF8, "all of it is UTF-8"},
		"UTF-8 but for a line":  {"é\nè\nà\nù\nê\nJos\xe9\n", UTF8, "most of its words that are not ASCII are"},
		"a far line":            {strings.Repeat("a@mail.example\n", 10_000) + "M\xfcller", "windows-1252", "line 10001 is not UTF-8, and all words fit"},
		"an apostrophe of Word": {"O\x92Neill\nM\xfcller\n", "windows-1252", "line 1 is not UTF-8, and all words fit"},
		"a no-break space":      {"Mr\xa0M\xfcller\n", "windows-1252", "line 1 is not UTF-8, and all words fit"},
		"Shift_JIS's full-width space": {"\x8e\x52\x93\x63\x81\x40\x91\xbe\x98\x59,a@mail.example\n", "shift_jis",
			"line 1 is not UTF-8, and all words fit"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why, err := Detect(iotest.HalfReader(strings.NewReader(c.in)), 1)
			require.NoError(t, err)
			require.Equal(t, []string{c.name, c.why}, []string{got, why})
		})
	}
	_, _, err := Detect(strings.NewReader("Ol\x92via\nM\xfcller\n"), 1) // Mac Roman's í
	require.ErrorAs(t, err, new(*Undecided))
	broken := errors.New("disk on fire")
	_, _, err = Detect(iotest.ErrReader(broken), 1)
	require.ErrorIs(t, err, broken)
	_, _, err = Detect(strings.NewReader("x\n"+strings.Repeat("\xff", maxWord+1)), 1)
	require.EqualError(t, err, "line 2 is not text: more than 64 KiB without a space or a sign")
}

func TestName(t *testing.T) {
	for label, want := range map[string]string{"latin1": "windows-1252", "ISO-8859-9": "windows-1254", "sjis": "shift_jis", " UTF8 ": UTF8,
		"gbk": "gbk", "utf-16": UTF16LE} {
		name, err := Name(label)
		require.NoError(t, err)
		require.Equal(t, want, name)
	}
	for _, label := range []string{"", "utf-7", "replacement", "x-user-defined", "iso-2022-kr"} {
		_, err := Name(label)
		require.Error(t, err, label)
	}
}

// FuzzDetect: no list makes it panic, and what it finds decodes.
func FuzzDetect(f *testing.F) {
	lists(func(_, _, _, raw string) {
		if len(raw) < 150 {
			f.Add(raw)
		}
	})
	f.Fuzz(func(t *testing.T, raw string) {
		name, why, err := Detect(strings.NewReader(raw), 1)
		same, _, again := Detect(iotest.OneByteReader(strings.NewReader(raw)), 1)
		require.Equal(t, name, same)
		require.Equal(t, err == nil, again == nil)
		require.Equal(t, err == nil, name != "" && why != "")
		if err == nil && name != UTF8 {
			require.NotContains(t, decode(name, raw), "\uFFFD")
		}
	})
}
