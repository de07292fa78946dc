package idna

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendDecoded(t *testing.T) {
	u, ok := AppendDecoded(make([]rune, 0, 32), []byte("xn--bcher-kva"))
	require.True(t, ok)
	require.Equal(t, "b\u00fccher", string(u))
	for label, room := range map[string]int{"bcher-kva": 32, "xn--bcher-kva": 6, "xn--\xff": 32} {
		_, ok := AppendDecoded(make([]rune, 0, room), []byte(label))
		require.False(t, ok, label)
	}
}
