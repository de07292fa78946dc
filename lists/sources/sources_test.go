package sources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/internal/tables"
)

// Every day is that of the table, and its source is the one in provenance.txt.
func TestFirstDay(t *testing.T) {
	rows, err := tables.ReadObserved("..")
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	for domain, days := range rows {
		require.Equal(t, days.First, FirstDay(Observed, domain), domain)
		require.Empty(t, FirstDay("npm:fakefilter", domain))
	}
	for _, domain := range []string{"", "com", "gmail.com", "00jac.co", "0jac.com", "#", "Written"} {
		require.Empty(t, FirstDay(Observed, domain), domain)
	}
	listed, err := tables.ReadProvenance("..")
	require.NoError(t, err)
	for _, s := range listed {
		name, _, _ := strings.Cut(s.Registry+":"+s.Package, "@20")
		require.Equal(t, s.Letter == string(tables.ObservedLetter), name == Observed, name)
	}
}
