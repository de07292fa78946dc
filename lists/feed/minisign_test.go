package feed_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// minisignProgram runs the program minisign in dir.
func minisignProgram(t *testing.T, dir string) func(args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("minisign")
	if err != nil {
		t.Skip("minisign is not installed (Debian's package minisign)")
	}
	return func(args ...string) (string, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// The program minisign verifies what we sign: a blob, changes and another file, of which
// only the first is a signature of lists.
func TestMinisignVerifies(t *testing.T) {
	dir, secret := t.TempDir(), feedtest.Key(t)
	minisign := minisignProgram(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lists.pub"), secret.Public().File(), 0o600))
	release := feedtest.Sign(t, secret, blob(t), signed)
	changes, ofChanges, err := secret.SignChanges(feed.Compare(nil, lists.Default()))
	require.NoError(t, err)
	ofFile, err := secret.SignFile([]byte("content"), "what it is")
	require.NoError(t, err)
	for comment, c := range map[string]struct{ content, signature []byte }{
		release.Statement.String():                              {release.Blob, release.Text},
		"addrspec changes version:" + lists.Default().Version(): {changes, ofChanges},
		"what it is": {[]byte("content"), ofFile},
	} {
		feedtest.Write(t, dir, c.content, c.signature)
		for _, key := range [][]string{{"-p", "lists.pub"}, {"-P", secret.Public().String()}} {
			out, err := minisign("-V", "-m", feed.BlobName, key[0], key[1])
			require.NoError(t, err, out)
			require.Contains(t, out, "Trusted comment: "+comment)
		}
		_, err := secret.Public().Parse(c.signature)
		require.Equal(t, comment == release.Statement.String(), err == nil)
		feedtest.Write(t, dir, append([]byte("x"), c.content...), c.signature)
		out, err := minisign("-V", "-m", feed.BlobName, "-p", "lists.pub")
		require.Error(t, err, out)
	}
}

func TestSignFileComment(t *testing.T) {
	for _, comment := range []string{"addrspec lists version:x", "addrspec changes version:x", "two\nlines", "two\rlines"} {
		_, err := feedtest.Key(t).SignFile(nil, comment)
		require.ErrorContains(t, err, "cannot be the trusted comment")
	}
}

// A key that the program minisign made signs for us, and what it signs itself is
// verified, unless it has the old form.
func TestMinisignKeyAndSignature(t *testing.T) {
	dir := t.TempDir()
	minisign := minisignProgram(t, dir)
	out, err := minisign("-G", "-W", "-p", "m.pub", "-s", "m.key")
	require.NoError(t, err, out)
	file, err := os.ReadFile(filepath.Join(dir, "m.key"))
	require.NoError(t, err)
	secret, err := feed.ParseSecretKey(file, func() (string, error) { panic("the key has no password") })
	require.NoError(t, err)
	pub, err := os.ReadFile(filepath.Join(dir, "m.pub"))
	require.NoError(t, err)
	key, err := feed.ParsePublicKey(string(pub))
	require.NoError(t, err)
	require.Equal(t, key.String(), secret.Public().String())
	require.Contains(t, string(pub), strings.TrimLeft(key.ID(), "0"), "minisign omits leading zeros")

	b := blob(t)
	feedtest.Write(t, dir, b, nil)
	statement := feedtest.Sign(t, secret, b, signed).Statement.String()
	out, err = minisign("-S", "-H", "-m", feed.BlobName, "-s", "m.key", "-t", statement)
	require.NoError(t, err, out)
	text, err := os.ReadFile(filepath.Join(dir, feed.BlobName+feed.Suffix))
	require.NoError(t, err)
	signature, err := key.Parse(text)
	require.NoError(t, err)
	_, err = signature.Open(b)
	require.NoError(t, err)

	out, err = minisign("-S", "-l", "-m", feed.BlobName, "-s", "m.key", "-t", statement)
	require.NoError(t, err, out)
	text, err = os.ReadFile(filepath.Join(dir, feed.BlobName+feed.Suffix))
	require.NoError(t, err)
	_, err = key.Parse(text)
	requireReason(t, err, feed.BadSignature, "sign without -l")
}

// The program minisign signs with a key that we made.
func TestMinisignUsesOurKey(t *testing.T) {
	dir := t.TempDir()
	minisign := minisignProgram(t, dir)
	secret, b := feedtest.Key(t), blob(t)
	file, err := secret.File("")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "our.key"), file, 0o600))
	feedtest.Write(t, dir, b, nil)
	statement := feedtest.Sign(t, secret, b, time.Now()).Statement.String()
	out, err := minisign("-S", "-m", feed.BlobName, "-s", "our.key", "-t", statement)
	require.NoError(t, err, out)
	text, err := os.ReadFile(filepath.Join(dir, feed.BlobName+feed.Suffix))
	require.NoError(t, err)
	signature, err := secret.Public().Parse(text)
	require.NoError(t, err)
	_, err = signature.Open(b)
	require.NoError(t, err)
}
