package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestByteSizeUnmarshalText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]byteSize{"64MiB": 64 << 20, "1 GiB": 1 << 30, "512KiB": 512 << 10, "1MB": 1e6, "4096": 4096} {
		var s byteSize
		require.NoError(t, s.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, s, text)
	}
	for _, text := range []string{"", "MiB", "-1MiB", "64 parsecs", "99999999999GiB", "1e99"} {
		var s byteSize
		require.ErrorContains(t, s.UnmarshalText([]byte(text)), "write it like 64MiB", text)
	}
}

func TestServeRefusesSmallBodyMemory(t *testing.T) {
	t.Parallel()
	_, message, code := operator(t, "serve", "--body-memory", "1MiB")
	require.NotZero(t, code)
	require.Contains(t, message, "--body-memory 1.0 MiB: must be at least 16 MiB")
	_, message, code = operator(t, "serve", "--body-memory", "much")
	require.NotZero(t, code)
	require.Contains(t, message, "write it like 64MiB")
}
