package feed_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// The program minisign verifies the signature of a file, which is never one of lists.
func TestSignFile(t *testing.T) {
	dir, secret := t.TempDir(), feedtest.Key(t)
	minisign := minisignProgram(t, dir)
	signature, err := secret.SignFile([]byte("content"), "what it is")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file.minisig"), signature, 0o600))
	out, err := minisign("-V", "-m", "file", "-P", secret.Public().String())
	require.NoError(t, err, out)
	require.Contains(t, out, "Trusted comment: what it is")
	_, err = secret.Public().Parse(signature)
	require.ErrorContains(t, err, "trusted comment")
}

func TestSignFileComment(t *testing.T) {
	for _, comment := range []string{"addrspec lists version:x", "addrspec changes version:x", "two\nlines", "two\rlines"} {
		_, err := feedtest.Key(t).SignFile(nil, comment)
		require.ErrorContains(t, err, "cannot be the trusted comment")
	}
}
