package command

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"key", "create", "--help"}, {"--version"}} {
		var out bytes.Buffer
		require.Zero(t, run(context.Background(), args, streams{nil, &out, io.Discard}), args)
		require.Contains(t, out.String(), "addrspec")
	}
	var err bytes.Buffer
	require.Equal(t, 2, run(context.Background(), []string{"chekc"}, streams{nil, io.Discard, &err}))
	require.Contains(t, err.String(), "--help")
}
