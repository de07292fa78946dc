package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/eval/people"
)

func TestPeopleRows(t *testing.T) {
	found := people.Histories{
		Named:    []string{"jane.doe", "nick77", "k3j9x2q8z7", "j.doe"},
		Provable: []string{"jane.doe", "j.doe"},
		Relayed:  []string{"x7f9q2m4k1"},
	}
	rows := peopleRows(found, [][]float64{{1, 1}})
	require.Len(t, rows, 5)
	require.Zero(t, rows[0].figure)
	require.Equal(t, 25.0, rows[1].figure)
	require.True(t, rows[1].fell())
	require.Less(t, rows[2].figure, 0.01)
	require.Equal(t, 100.0, rows[4].figure)
	for _, r := range rows {
		require.Empty(t, r.wrong, "addresses are not listed")
	}
}

func TestPeopleNeedARepository(t *testing.T) {
	_, err := runPeople(t.TempDir())("data")
	require.ErrorContains(t, err, "git log of")
}
