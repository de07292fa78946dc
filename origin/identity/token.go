package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// newToken returns 256 random bits in base64url.
func newToken() string {
	var random [32]byte
	rand.Read(random[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// hashOf returns the form in which a token is stored.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
