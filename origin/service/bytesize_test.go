package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestByteSizeUnmarshalText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ByteSize{"64MiB": 64 << 20, "1 GiB": 1 << 30, "512KiB": 512 << 10, "1MB": 1e6, "4096": 4096} {
		var s ByteSize
		require.NoError(t, s.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, s, text)
	}
	for _, text := range []string{"", "MiB", "-1MiB", "64 parsecs", "99999999999GiB", "1e99"} {
		var s ByteSize
		require.ErrorContains(t, s.UnmarshalText([]byte(text)), "write it like 64MiB", text)
	}
}
