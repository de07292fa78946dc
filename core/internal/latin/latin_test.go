package latin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBase(t *testing.T) {
	for r, want := range map[rune]byte{
		'\u00c0': 'a', '\u00fc': 'u', '\u00df': 's', '\u00d7': ' ', '\u0142': 'l', '\u0131': 'i', '\u025b': 'e', '\u025c': ' ', // both ends of the ranges, and gaps
		'\u1e00': 'a', '\u1ee3': 'o', '\u1ef9': 'y', '\u1efa': ' ', 'a': ' ', '\u0430': ' ', '\u5ba2': ' ',
	} {
		require.Equal(t, string(want), string(Base(r)), "%c", r)
	}
	require.True(t, IsMark('\u0307'))
	require.False(t, IsMark('\u0370'))
}
