package identity

import (
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
