package book

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each new secret is another one, and all digits are equally likely.
func TestNewSecret(t *testing.T) {
	const each = 4000 // expected; the standard deviation is 63
	count, seen := map[byte]int{}, map[string]bool{}
	for range 62 * each / secretRandom {
		secret := NewSecret()
		require.True(t, WellFormed(secret))
		require.False(t, seen[secret])
		seen[secret] = true
		for _, b := range []byte(secret[len(secretPrefix):secretBody]) {
			count[b]++
		}
	}
	require.Len(t, count, 62)
	for digit, n := range count {
		require.InDelta(t, each, n, each/10, "%c", digit)
	}
}

// The checksums were computed with another program (Python's zlib.crc32).
func TestSecretFormat(t *testing.T) {
	odd := "ask_" + strings.Repeat("-", 32)
	good := "ask_" + strings.Repeat("0", 32) + zeroChecksum
	for name, c := range map[string]struct {
		secret string
		want   bool
	}{
		"the format's example":        {good, true},
		"mixed digits":                {mixedKey, true},
		"empty":                       {"", false},
		"only the prefix":             {"ask_", false},
		"another prefix":              {"ASK_" + good[4:], false},
		"a random digit mistyped":     {"ask_1" + good[5:], false},
		"a checksum digit mistyped":   {good[:41] + "z", false},
		"two digits swapped":          {mixedKey[:6] + mixedKey[7:8] + mixedKey[6:7] + mixedKey[8:], false},
		"a character short":           {good[:41], false},
		"a character long":            {good + "0", false},
		"a trailing space":            {good + " ", false},
		"not a digit, checksum right": {odd + checksum(odd), false},
		"NUL inside":                  {"ask_\x00" + good[5:], false},
		"non-ASCII letters":           {"ask_" + strings.Repeat("é", 19), false},
	} {
		require.Equal(t, c.want, WellFormed(c.secret), name)
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add(mixedKey)           // well formed
	f.Add(mixedKey[:41])      // one byte short
	f.Add(mixedKey + "\n")    // a trailing newline
	f.Add("")                 // empty
	f.Add("ask_é" + mixedKey) // not ASCII
	f.Fuzz(func(t *testing.T, secret string) {
		if WellFormed(secret) {
			require.Equal(t, secret, secret[:36]+checksum(secret[:36]))
		}
	})
}

const (
	zeroChecksum = "2CGNRW"
	mixedKey     = "ask_aZ09bY18cX27dW36eV45fU54gT63hS721AVJkd"
)
