package tables

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneEdit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"gmail", "gmail", false}, {"gmai", "gmail", true}, {"gmaill", "gmail", true}, {"gnail", "gmail", true},
		{"gmial", "gmail", true}, {"mgail", "gmail", true}, {"gma", "gmail", false}, {"gmlia", "gmail", false},
		{"", "a", true}, {"", "", false}, {"ab", "ba", true}, {"abc", "cba", false},
	} {
		require.Equal(t, c.want, oneEdit(c.a, c.b), c)
		require.Equal(t, c.want, oneEdit(c.b, c.a), c)
	}
}
