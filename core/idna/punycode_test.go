package idna

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
)

// TestPunycode compares with x/net/idna on labels of up to 50 characters, whose
// code points are close together or far apart.
func TestPunycode(t *testing.T) {
	random := rand.New(rand.NewPCG(3492, 0))
	for range 20_000 {
		label := make([]rune, 1+random.IntN(50))
		low := rune(1) << (5 + random.IntN(15)) // start of the block of most characters
		for i := range label {
			label[i] = low + random.Int32N(64)
			if random.IntN(10) == 0 {
				label[i] = 'a' + random.Int32N(26)
			}
		}
		s := strings.ToLower(strings.Map(replaceDots, string(label)))
		want, err := idna.Punycode.ToASCII(s)
		if err != nil || want == s {
			continue
		}
		encoded := appendPunycode([]byte(acePrefix), []rune(s))
		require.Equal(t, want, string(encoded), "%+q", s)
		back, ok := appendDecoded(make([]rune, 0, 64), encoded[len(acePrefix):])
		require.True(t, ok, "%s", encoded)
		require.Equal(t, s, string(back))
	}
}

// replaceDots replaces the characters that the oracle treats as dots, and
// surrogates, by a letter.
func replaceDots(r rune) rune {
	if r == '.' || r == 0x3002 || r == 0xFF0E || r == 0xFF61 || r >= 0xD800 && r < 0xE000 {
		return 'x'
	}
	return r
}

func TestDecodeErrors(t *testing.T) {
	for encoded, about := range map[string]string{
		"A":                           "upper case",
		"a_b":                         "not a digit",
		"9":                           "truncated",
		"999999a":                     "beyond U+10FFFF",
		strings.Repeat("9", 60) + "a": "a delta that would overflow",
		string(appendPunycode(nil, []rune{0xD801})):      "a surrogate",
		string(appendPunycode(nil, []rune{'a', 0xDFFF})): "a surrogate after ASCII",
	} {
		_, ok := appendDecoded(make([]rune, 0, 64), []byte(encoded))
		require.False(t, ok, about)
	}
	_, ok := appendDecoded(make([]rune, 0, 3), []byte("aaaa"))
	require.False(t, ok, "more characters than fit")
}

func TestAppendDecoded(t *testing.T) {
	u, ok := AppendDecoded(make([]rune, 0, 32), []byte("xn--bcher-kva"))
	require.True(t, ok)
	require.Equal(t, "b\u00fccher", string(u))
	for label, room := range map[string]int{"bcher-kva": 32, "xn--bcher-kva": 6, "xn--\xff": 32} {
		_, ok := AppendDecoded(make([]rune, 0, room), []byte(label))
		require.False(t, ok, label)
	}
}
