package filter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilterHasItsWords(t *testing.T) {
	var words []string
	for i := range 20_000 {
		words = append(words, fmt.Sprint("word", i))
	}
	f := New(words)
	require.Len(t, f, Size)
	for _, w := range words {
		require.True(t, f.Has([]byte(w)), w)
	}
	others := 0
	for i := range 20_000 {
		if f.Has([]byte(fmt.Sprint("other", i))) {
			others++
		}
	}
	require.Less(t, others, 300, "1.5 %")
}

func TestEmptyFilterHasNothing(t *testing.T) {
	f := New(nil)
	require.False(t, f.Has(nil))
	require.False(t, f.Has([]byte("word")))
}
