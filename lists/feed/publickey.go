package feed

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"

	"aead.dev/minisign"
)

// PublicKey verifies signatures. Its zero value is no key.
type PublicKey struct {
	key minisign.PublicKey
	set bool
}

// The decoded sizes of minisign's keys: algorithm, key ID and Ed25519 key, and
// for a secret one how it is encrypted.
const (
	publicKeySize = 2 + 8 + ed25519.PublicKeySize
	secretKeySize = 158
)

// ParsePublicKey parses minisign's base64 line, or the text of a .pub file, which
// has a comment line before it.
func ParsePublicKey(text string) (PublicKey, error) {
	line := lastLine(text)
	switch len(decoded(line)) {
	case publicKeySize:
	case secretKeySize:
		return PublicKey{}, refuse(BadSignature, "this is a secret key: keep it where lists are signed, and give the public key, which the .pub file has")
	default:
		return PublicKey{}, refuse(BadSignature, "this is not a public key of minisign: give the base64 line that begins with RW, or a .pub file; addrspec lists keygen makes a key pair")
	}
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(line)); err != nil {
		return PublicKey{}, refuse(BadSignature, "this is not an Ed25519 public key of minisign")
	}
	return PublicKey{key, true}, nil
}

// IsKey reports whether text is the base64 line of a public or a secret key, and
// not the name of a file.
func IsKey(text string) bool {
	n := len(decoded(strings.TrimSpace(text)))
	return n == publicKeySize || n == secretKeySize
}

// lastLine returns the last line that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// decoded returns the bytes of base64 text, or nil.
func decoded(text string) []byte {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// IsZero reports whether there is no key.
func (k PublicKey) IsZero() bool { return !k.set }

// String returns the base64 line.
func (k PublicKey) String() string { return k.key.String() }

// File returns the text of a .pub file.
func (k PublicKey) File() []byte {
	text, _ := k.key.MarshalText() // never an error
	return append(text, '\n')
}

// ID returns the key's ID, 16 hexadecimal digits. minisign omits leading zeros.
func (k PublicKey) ID() string { return keyID(k.key.ID()) }

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// ed25519 returns the key for package ed25519.
func (k PublicKey) ed25519() ed25519.PublicKey {
	return decoded(k.key.String())[publicKeySize-ed25519.PublicKeySize:]
}
