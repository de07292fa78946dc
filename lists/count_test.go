package lists

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every entry of the blob has one of the classes, so the counts add up.
func TestCounts(t *testing.T) {
	l := Default()
	sum := 0
	for class := Class(1); class != 0; class <<= 1 {
		sum += l.Count(class)
	}
	require.Equal(t, len(l.domains.values), sum)
	require.Greater(t, l.Count(Disposable), l.Count(Public))
	require.Greater(t, l.RoleWords(), 100)
	require.Equal(t, 2, Lines([]byte("a.com\nb.com\n")))
}
