package edge_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A signer signs as lists/feed does, also blobs that lists/feed would not sign.
type signer struct{ minisign.PrivateKey }

func newSigner(t testing.TB) signer {
	t.Helper()
	_, secret, err := minisign.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return signer{secret}
}

// key returns the public key: minisign's base64 line.
func (s signer) key() string { return s.Public().(minisign.PublicKey).String() }

// sign returns the signature of a blob, in the prehashed form.
func (s signer) sign(blob []byte, signed, expires int64) []byte {
	r := minisign.NewReader(bytes.NewReader(blob))
	_, _ = io.Copy(io.Discard, r) // a bytes.Reader does not fail
	statement := feed.Statement{Version: versionOf(blob), Signed: time.Unix(signed, 0), Expires: time.Unix(expires, 0)}
	return r.SignWithComments(s.PrivateKey, statement.String(), "lists of a test")
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

// swappedDomain is public only in newer lists.
const swappedDomain = moduletest.Swapped

// newer returns newer lists as if their sources had been fetched on this date.
func newer(t testing.TB, date string) []byte {
	t.Helper()
	return feedtest.Dated(moduletest.NewerLists(t), date)
}

// packed returns the lists of the module as if their sources had been fetched on this date.
func packed(date string) []byte { return feedtest.Dated(lists.Blob(), date) }
