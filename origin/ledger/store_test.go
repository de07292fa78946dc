package ledger

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The dialects say the same things under the same names.
func TestDialectsHaveTheSameQueries(t *testing.T) {
	names := func(dialect string) []string { return slices.Sorted(maps.Keys(catalogue(dialect))) }
	require.Equal(t, names("sqlite"), names("postgres"))
	require.Equal(t, len(migrations("sqlite")), len(migrations("postgres")))
	require.NotEmpty(t, migrations("sqlite"))
}
