package lists

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The filter has every word that is listed, and few others.
func TestWordFilter(t *testing.T) {
	l := Default()
	l.EachWord(func(word []byte, w Word) {
		require.Equal(t, w, l.Word(word), "%s", word)
	})
	passed := 0
	for i := range 10_000 {
		if l.words.mayHave(fmt.Appendf(nil, "jane%x", i*0x9E3779)) {
			passed++
		}
	}
	require.Less(t, passed, 2_000)
	require.False(t, l.words.mayHave(nil))
	require.False(t, l.words.mayHave([]byte("a")))
}
