package command

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The same file gives the same columns and rows in this process and through a service.
// Offline the column mx is empty, and all others are the same. Package browser compares
// the page Lists.
func TestCheckHasOneLayout(t *testing.T) {
	t.Parallel()
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	key := s.newKey(t)
	for _, list := range origintest.Lists(t, "../check/input/testdata/crossing.json") {
		t.Run(list.Name, func(t *testing.T) {
			file := fileOf(t, list.File, string(list.Content))
			local, problem, code := runCheck(t, nil, file, "--to", "csv", "--offline=false", "--dns", dns)
			require.Contains(t, []int{0, 1}, code, problem)
			through, problem, again := s.checkThrough(t, key, "", file, "--to", "csv")
			require.Equal(t, code, again, problem)
			require.Equal(t, local, through)
			offline, _, _ := runCheck(t, nil, file, "--to", "csv")
			require.Equal(t, withoutMX(t, local), withoutMX(t, offline))
		})
	}
}

// withoutMX returns the rows without the column mx.
func withoutMX(t *testing.T, text string) [][]string {
	first, _, _ := strings.Cut(text, "\n")
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord, reader.Comma = -1, ','
	for _, comma := range ";\t|" {
		if strings.Count(first, string(comma)) > 10 {
			reader.Comma = comma
		}
	}
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	ours := slices.IndexFunc(rows[0], func(name string) bool { return strings.HasSuffix(name, "typo_suggestion") })
	mx := ours - 5
	require.True(t, strings.HasSuffix(rows[0][mx], "mx"))
	for n := range rows {
		rows[n] = slices.Delete(rows[n], mx, mx+1)
	}
	return rows
}
