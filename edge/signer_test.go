package edge_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A signer signs as minisign does, also what minisign would not.
type signer struct {
	id     string // 8 bytes
	public ed25519.PublicKey
	secret ed25519.PrivateKey
}

func newSigner(t testing.TB, id string) signer {
	t.Helper()
	public, secret, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return signer{id, public, secret}
}

// key returns the public key: minisign's base64 line.
func (s signer) key() string {
	return base64.StdEncoding.EncodeToString(append([]byte("Ed"+s.id), s.public...))
}

// sign returns the signature of a blob, in the prehashed form.
func (s signer) sign(blob []byte, signed, expires int64) []byte {
	hash := blake2b.Sum512(blob)
	signature := ed25519.Sign(s.secret, hash[:])
	comment := fmt.Sprintf("addrspec lists version:%s signed:%d expires:%d", versionOf(blob), signed, expires)
	global := ed25519.Sign(s.secret, append(slices.Clone(signature), comment...))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, "untrusted comment: lists of a test\n%s\ntrusted comment: %s\n%s\n",
		encode(append([]byte("ED"+s.id), signature...)), comment, encode(global))
}

// The header of a blob; see package lists/internal/format.
const (
	checksumAt = 9
	dateAt     = 13
	partsAt    = 23
)

// versionOf returns the version in the header of a blob.
func versionOf(blob []byte) string {
	return fmt.Sprintf("%s-%08x", blob[dateAt:partsAt], binary.LittleEndian.Uint32(blob[checksumAt:]))
}

// dated returns the blob with another date.
func dated(blob []byte, date string) []byte {
	blob = slices.Clone(blob)
	copy(blob[dateAt:], date)
	binary.LittleEndian.PutUint32(blob[checksumAt:], crc32.ChecksumIEEE(blob[dateAt:]))
	return blob
}

// swappedDomain is public only in newer lists.
const swappedDomain = moduletest.Swapped

// newer returns newer lists as if their sources had been fetched on this date.
func newer(t testing.TB, date string) []byte {
	t.Helper()
	return dated(moduletest.NewerLists(t), date)
}

// packed returns the lists of the module as if their sources had been fetched on
// this date.
func packed(t testing.TB, date string) []byte {
	t.Helper()
	blob, err := os.ReadFile("../lists/lists.blob")
	require.NoError(t, err)
	return dated(blob, date)
}
