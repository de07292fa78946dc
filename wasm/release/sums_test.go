package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
)

func TestSumsForSha256sum(t *testing.T) {
	r := testRelease(t)
	write(t, r.out, map[string]string{"b": "2", "a/c": "3", workDirectory + "/program": "x"})
	require.NoError(t, r.sums(t.Context()))
	text, err := os.ReadFile(r.inOut(sumsFile))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), "\n"))
	require.Contains(t, programOutput(t, r.out, "sha256sum", "-c", sumsFile), "a/c: OK")
}

// The program minisign verifies the signature, which is the same at every build.
func TestMinisignVerifies(t *testing.T) {
	r := testRelease(t)
	public, secret, err := feed.GenerateKey()
	require.NoError(t, err)
	file, err := secret.File("")
	require.NoError(t, err)
	r.key = filepath.Join(t.TempDir(), "release.key")
	require.NoError(t, os.WriteFile(r.key, file, 0o600))
	write(t, r.out, map[string]string{"a": "1"})
	require.NoError(t, r.checkKey())
	require.NoError(t, r.sums(t.Context()))
	require.NoError(t, r.sign(t.Context()))
	first, err := os.ReadFile(r.inOut(signatureFile))
	require.NoError(t, err)
	require.NoError(t, r.sums(t.Context())) // the sums leave out their signature
	require.NoError(t, r.sign(t.Context()))
	again, err := os.ReadFile(r.inOut(signatureFile))
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	out := programOutput(t, r.out, "minisign", "-V", "-m", sumsFile, "-P", public.String())
	require.Contains(t, out, "addrspec release version:1.2.3 commit:"+r.label())
	_, err = public.Parse(first)
	require.ErrorContains(t, err, "addrspec lists", "a release's signature is not one of lists")
}
