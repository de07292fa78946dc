package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSingleValue(t *testing.T) {
	for want, values := range map[string][]string{"": nil, "x": {"x"}} {
		value, ok := singleValue(http.Header{"X": values}, "X")
		require.True(t, ok)
		require.Equal(t, want, value)
	}
	for _, values := range [][]string{{"a,b"}, {","}, {"a", "b"}, {"", ""}, {"a", "a"}} {
		_, ok := singleValue(http.Header{"X": values}, "X")
		require.False(t, ok, values)
	}
}
