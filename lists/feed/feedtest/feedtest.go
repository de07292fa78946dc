// Package feedtest makes feeds for tests.
package feedtest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/internal/format"
)

// Dated returns the blob as if its sources had been read on another day, such as
// 2026.12.01.
func Dated(blob []byte, day string) []byte {
	blob = slices.Clone(blob)
	copy(blob[format.DateAt:], day)
	return checked(blob)
}

// Edited returns the blob with the text old replaced by another one of the same length.
func Edited(blob []byte, old, other string) []byte {
	return checked(bytes.Replace(blob, []byte(old), []byte(other), 1))
}

// checked returns the blob with its checksum.
func checked(blob []byte) []byte {
	binary.LittleEndian.PutUint32(blob[format.ChecksumAt:], crc32.ChecksumIEEE(blob[format.DateAt:]))
	return blob
}

// OtherFormat returns the blob with another version of the format in its header.
func OtherFormat(blob []byte) []byte {
	blob = slices.Clone(blob)
	blob[len(format.Magic)]++
	return blob
}

// Key makes a key pair.
func Key(t testing.TB) feed.SecretKey {
	t.Helper()
	_, secret, err := feed.GenerateKey()
	require.NoError(t, err)
	return secret
}

// Sign signs a blob, for 30 days from signed.
func Sign(t testing.TB, secret feed.SecretKey, blob []byte, signed time.Time) *feed.Release {
	t.Helper()
	release, err := secret.Sign(blob, signed, signed.Add(30*24*time.Hour))
	require.NoError(t, err)
	return release
}

// Write writes a blob and the text of a signature to a directory, as they are.
func Write(t testing.TB, dir string, blob, signature []byte) {
	t.Helper()
	path := filepath.Join(dir, feed.BlobName)
	require.NoError(t, os.WriteFile(path, blob, 0o600))
	require.NoError(t, os.WriteFile(path+feed.Suffix, signature, 0o600))
}

// PublicKeyFile writes the public key to a .pub file.
func PublicKeyFile(t testing.TB, secret feed.SecretKey) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lists.pub")
	require.NoError(t, os.WriteFile(file, secret.Public().File(), 0o600))
	return file
}
