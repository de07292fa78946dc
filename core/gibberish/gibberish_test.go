package gibberish

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
	"github.com/stretchr/testify/require"
)

// real are local parts that are not gibberish, by kind.
var real = map[string]string{
	"names":           "anna.schmidt j.smith maria_gonzalez lee-wong o'brien mcgregor vandenberg jean-pierre.dupont",
	"short parts":     "ab jk mjr tom li ng xu o jo.x a.b",
	"initials":        "jd1984 mk1975 rtb2003 s.k.93 akm77",
	"years":           "peter1969 lucy.brown2001 hans_85 emma99",
	"handles":         "darkwolf77 skater_girl thecoffeelover xxninjaxx ilovepizza bikerdude1",
	"leet":            "h4cker l33tman r0ckstar d4rkl0rd",
	"companies":       "info.acme sunrisebakery northwindtraders greenleaf-consulting",
	"acronyms":        "hr.nasa ieee.member bbcnews ftp-admin",
	"identifiers":     "mulleran2 garciajo5 jsmit21 wongk12",
	"transliterated":  "shchedrin zhukovskaya nguyenvanan tranthihuong xiaoyingzhang giorgadze hovhannisyan papadopoulos",
	"peoples":         "chukwuemeka adebayo.ogunleye gwenllian.llewelyn sigurjonsson etxeberria kealoha jayawardena mwangi.kamau",
	"consonants":      "krzysztof.brzeczyszczykiewicz wrzesniewski vlk.hrdlicka schwartzkopff",
	"accented":        "françois.lefèvre jürgen.groß łukasz.żółć đặng.nguyễn şükrü.çağlar þórður",
	"native scripts":  "иван.петров 王小明 김민수 やまだ.たろう γιώργος דוד محمد สมชาย गीता",
	"native, numbers": "иван1984 王88",
	"digits alone":    "5551234567 19840523 123 42 555-123-4567 8.8.8",
	"double letters":  "aaron bobby mississippi lulu momo77",
	"other":           "- . _ x",
}

// random are local parts that are, by kind.
var random = map[string]string{
	"letters":         "xkqzvbnw qwzxjkvh vbxqzlkrt jzqxwvkp fqzkrwxptd",
	"alphanumeric":    "k3j9x2q8z7 x7f9q2m4k1 9z8x7c6v5q",
	"hex":             "9f86d081884c7d65 e3b0c44298fc1c14 d41d8cd98f00b204",
	"uuid":            "550e8400-e29b-41d4-a716-446655440000 6ba7b810-9dad",
	"base32":          "mfrggzdfmztwq2lk jbswy3dpfqqho33s krsxg5baij2w4z3z",
	"consonant runs":  "bcdfghjklm sdfghjklkjh xzcvbnmlkj ptkvbgdfsz",
	"keyboard walks":  "asdfgh asdfghjkl qwertyasdf zxcvbnm qweasdzxc poiuytrewq",
	"repeated chunks": "wqewqewqe asdasdasd hgfhgfhgf jkljkljkl",
	"runs, separated": "xkqz.vbnwp qhwz_kdxv zkjq-wvbx",
	"blocks":          "xkq38zvb77 tz4kq9wx2",
}

func TestScore(t *testing.T) {
	for kind, names := range real {
		for name := range strings.FieldsSeq(names) {
			require.Less(t, Score([]byte(name)), uint8(50), "%s: %s", kind, name)
		}
	}
	for kind, names := range random {
		for name := range strings.FieldsSeq(names) {
			require.GreaterOrEqual(t, Score([]byte(name)), uint8(50), "%s: %s", kind, name)
		}
	}
}

func TestInputIsBounded(t *testing.T) {
	long := []byte(strings.Repeat("xkqz", 1<<18))
	require.Equal(t, Score(long[:model.MaxName]), Score(long))
}

func TestNoAllocations(t *testing.T) {
	names := [][]byte{[]byte("maria.gonzalez1984"), []byte("h4ckm3"), []byte("łukasz"), []byte("иван")}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, name := range names {
			Score(name)
		}
	}))
}

func FuzzScore(f *testing.F) {
	f.Add([]byte("maria.gonzalez1984"))                          // the usual case
	f.Add([]byte("h4ck3r"))                                      // digits with two readings
	f.Add([]byte("žluťoučký\xff\xcc\x81кот"))                    // marks, an invalid byte, another script
	f.Add([]byte(strings.Repeat("a1", 200)))                     // longer than MaxName
	f.Add([]byte("....----____1999"))                            // no letters
	f.Add([]byte(strings.Repeat("\u0301", model.MaxName) + "a")) // marks without a base letter
	f.Fuzz(func(t *testing.T, name []byte) {
		score := Score(name)
		require.LessOrEqual(t, score, uint8(100))
		require.Equal(t, score, Score(name))
		if utf8.Valid(name) && len(name) <= model.MaxName-len(".-") {
			require.Equal(t, score, Score(append([]byte(".-"), name...)), "separators before the name have no effect")
		}
	})
}
