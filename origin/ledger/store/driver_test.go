package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenWithoutDriver(t *testing.T) {
	registered := openers
	defer func() { openers = registered }()
	openers = map[string]Opener{}
	for _, url := range []string{"sqlite:a.db", "postgres://localhost/a", "postgresql://localhost/a"} {
		_, err := Open(t.Context(), url, nil)
		require.ErrorContains(t, err, "does not import the store's driver for ")
	}
	_, err := Open(t.Context(), "mysql://localhost/a", nil)
	require.ErrorContains(t, err, `must be "sqlite:PATH"`)
}
