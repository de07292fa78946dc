package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A buffer is released once, and only responses of about its size get one.
func TestResponseRoom(t *testing.T) {
	x := new(exchange)
	for _, size := range []int{0, 16<<10 - 1, 32<<10 + 1} {
		require.Equal(t, size, cap(x.responseRoom(size)))
		require.Nil(t, x.buffer)
	}
	require.Equal(t, 32<<10, cap(x.responseRoom(16<<10)))
	require.NotNil(t, x.buffer)
	x.releaseResponse()
	require.Nil(t, x.buffer)
	x.releaseResponse()
}
