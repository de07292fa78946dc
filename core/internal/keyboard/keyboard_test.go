package keyboard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdjacent(t *testing.T) {
	adjacent := map[string]bool{}
	QWERTZ.Adjacent(func(a, b byte) {
		require.False(t, adjacent[string([]byte{a, b})] || adjacent[string([]byte{b, a})], "%c%c is visited twice", a, b)
		adjacent[string([]byte{a, b})] = true
	})
	var beside []string
	for pair := range adjacent {
		if strings.Contains(pair, "h") {
			beside = append(beside, strings.Trim(pair, "h"))
		}
	}
	require.ElementsMatch(t, strings.Split("z u g j b n", " "), beside)
}

func TestLetterRows(t *testing.T) {
	require.Equal(t, [3]string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}, QWERTY.LetterRows())
	for _, layout := range []Layout{QWERTY, QWERTZ, AZERTY} {
		rows := layout.LetterRows()
		letters := strings.Split(strings.Join(rows[:], ""), "")
		require.ElementsMatch(t, strings.Split("abcdefghijklmnopqrstuvwxyz", ""), letters)
	}
}
