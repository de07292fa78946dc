package identity

import (
	"slices"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
)

// The hash compared in place of a missing one must cost as much as one that a user
// has, or the time would show which emails have an account.
func TestDummyHashCostsTheSame(t *testing.T) {
	dummy := dummyHash()
	usual, err := argon2id.CreateHash("correct horse battery", hashing)
	require.NoError(t, err)
	require.Len(t, dummy, len(usual))
	match, cost, err := argon2id.CheckHash("correct horse battery", dummy)
	require.NoError(t, err)
	require.False(t, match)
	require.Equal(t, hashing, cost)
	require.NotEqual(t, dummy, dummyHash(), "another service must not share it")
}

// The list has what its header says, in a form that isCommon can search.
func TestCommonPasswords(t *testing.T) {
	header, list, found := strings.Cut(commonPasswords, "\n\n")
	require.True(t, found)
	require.Contains(t, header, "Licence: MIT")
	require.Contains(t, header, "sha512-")
	words := strings.Fields(list)
	require.Len(t, words, 10_000)
	require.LessOrEqual(t, len(commonPasswords), 100<<10)
	require.True(t, slices.IsSorted(words))
	require.Len(t, slices.Compact(slices.Clone(words)), len(words))
	for _, word := range words {
		require.Equal(t, strings.ToLower(word), word)
		require.True(t, isCommon(word))
	}
	require.False(t, isCommon(""))
	require.False(t, isCommon("Licence: MIT"))
}
