package edge_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"
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

// swappedDomain is public only in newerBlob.
const swappedDomain = "swapped.example"

// newerBlob packs the project's own tables and swappedDomain.
var newerBlob = sync.OnceValues(func() ([]byte, error) {
	dir := filepath.Join(common, "lists")
	if err := os.CopyFS(dir, os.DirFS("../lists")); err != nil {
		return nil, err
	}
	public := filepath.Join(dir, "public.txt")
	table, err := os.ReadFile(public)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(public, append(table, "\n"+swappedDomain+" Test\n"...), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/pack", "-dir", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "lists.blob"))
})

// newer returns newerBlob as if its sources had been fetched on this date.
func newer(t testing.TB, date string) []byte {
	t.Helper()
	blob, err := newerBlob()
	require.NoError(t, err)
	return dated(blob, date)
}

// packed returns the lists of the module as if their sources had been fetched on
// this date.
func packed(t testing.TB, date string) []byte {
	t.Helper()
	blob, err := os.ReadFile("../lists/lists.blob")
	require.NoError(t, err)
	return dated(blob, date)
}
