package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestID(t *testing.T) {
	require.Equal(t, "a-b_c.d:1", requestID("a-b_c.d:1"))
	for _, odd := range []string{"", "a b", "a\r\nX: y", "ü", strings.Repeat("a", 129)} {
		require.Regexp(t, "^[A-Z2-7]{26}$", requestID(odd))
	}
}
