package prompt

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPasswordFromAPipe(t *testing.T) {
	for in, want := range map[string]string{"correct horse\n": "correct horse", "a b\r\nsecond": "a b", "no end": "no end"} {
		got, err := Password(strings.NewReader(in), io.Discard, "?")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"", "\n", "\r\n"} {
		_, err := Password(strings.NewReader(in), io.Discard, "?")
		require.ErrorContains(t, err, "needs a password")
	}
	long, err := Password(strings.NewReader(strings.Repeat("a", 5000)), io.Discard, "?")
	require.NoError(t, err)
	require.Len(t, long, longest)
	require.False(t, IsTerminal(strings.NewReader("")))
}
