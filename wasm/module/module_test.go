package module

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Open reads what Bytes returns.
func TestOpen(t *testing.T) {
	want, err := Bytes()
	file, errOpen := Open()
	if errors.Is(err, ErrMissing) {
		require.ErrorIs(t, errOpen, ErrMissing)
		t.Skip("the module is not built")
	}
	require.NoError(t, errOpen)
	got, err := io.ReadAll(file)
	require.NoError(t, err)
	require.True(t, string(want) == string(got))
}
