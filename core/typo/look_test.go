package typo

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSuggestLooks(t *testing.T) {
	x := newIndex()
	for _, c := range []struct{ why, meant, typed string }{
		{"Cyrillic letters", "gmail.com", "gm\u0430il.com gm\u0430\u0456l.com g\u043cail.com gm\u0430il.c\u043em"},
		{"Cyrillic letters", "hotmail.com", "h\u043etm\u0430il.com"},
		{"Cyrillic letters", "yandex.ru", "yande\u0445.ru"},
		{"all Cyrillic, no word", "yahoo.com", "\u0443\u0430\u04bb\u043e\u043e.com"},
		{"Greek letters", "gmail.com", "gm\u03b1il.com"},
		{"a letter with a stroke", "gmail.com", "gmai\u0142.com"},
		{"letters with marks", "gmail.com", "gm\u00e5il.com gma\u00efl.com \u011fmail.com"},
		{"letters with marks", "hotmail.com", "h\u00f6tmail.com"},
		{"letters with marks", "yahoo.com", "yaho\u00f3.com"},
		{"a stray letter", "gmail.com", "\u014bmail.com gma\u0444il.com gmail.com\u00f9 gmail.com\u03c9"},
		{"full-width letters and a slip", "gmail.com", "\uff47\uff4d\uff49\uff41\uff4c.com \uff47mial.com"},
	} {
		for _, typed := range strings.Fields(c.typed) {
			assert.Equal(t, c.meant, string(x.Suggest(aLabels(t, typed))), "%s: %s", c.why, typed)
		}
	}
}

func TestSuggestLooksAbstains(t *testing.T) {
	x := newIndex()
	for why, domains := range map[string]string{
		"words in Cyrillic":                   "\u043f\u043e\u0447\u0442\u0430.com \u044f\u043d\u0434\u0435\u043a\u0441.ru \u0440\u043e\u0441\u0442.com \u0441\u043e\u0445.net \u043c\u0430\u0438\u043b.ru",
		"a top-level domain in Cyrillic":      "mail.\u0440\u0444 \u043c\u0430\u0439\u043b.\u0440\u0444 gmail.\u043c\u043e\u0441\u043a\u0432\u0430",
		"words in Greek":                      "\u03b1\u03b8\u03ae\u03bd\u03b1.gr \u03c4\u03b1\u03c7\u03c5.gr",
		"words with marks":                    "\u00e9mail.com \u00e9mail.fr b\u00fccher.de m\u00fcnchen.de voln\u00fd.cz po\u0161ta.sk \u00f1mail.com",
		"other scripts":                       "\u90ae\u4ef6.com \u30e1\u30fc\u30eb.jp \u0645\u062b\u0627\u0644.com",
		"the target itself, full-width":       "\uff47\uff4d\uff41\uff49\uff4c.com",
		"several letters that look like none": "\u0444\u0438\u0433mail.com \u03c8\u03c9gmail.com",
	} {
		for _, domain := range strings.Fields(domains) {
			assert.Empty(t, string(x.Suggest(aLabels(t, domain))), "%s: %s", why, domain)
		}
	}
}

func TestLooksTable(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		b, marked := lookOf(r)
		require.True(t, 'a' <= b && b <= 'z' || !marked && ('0' <= b && b <= '9' || b == stray), "%U", r)
	}
	for r, want := range map[rune]string{'a': "a", '\u00e5': "a", '\u0430': "a", '\u0142': "l", '\u03bd': "v", '\u6f22': "*"} {
		b, _ := lookOf(r)
		require.Equal(t, want, string(b), "%c", r)
	}
}
