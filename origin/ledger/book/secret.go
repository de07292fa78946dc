package book

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
)

// A key's secret is 42 ASCII bytes:
//
//	offset  bytes  what
//	0       4      "ask_"
//	4       32     random, each one of the 62 digits below (190 bits)
//	36      6      checksum of bytes 0 to 35
//
// The digits, in order of value, are 0-9, A-Z, a-z. The checksum is CRC-32 as in zlib, PNG and
// IEEE 802.3, an unsigned 32-bit number in base 62: six digits, the most significant first, which
// suffice because 62^6 is more than 2^32. It is not secret and proves nothing; it lets a host
// refuse a mistyped key without a lookup.
//
// Example: ask_00000000000000000000000000000000 is followed by 2CGNRW.
const (
	secretPrefix = "ask_"
	secretRandom = 32
	secretBody   = len(secretPrefix) + secretRandom

	digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret returns a new random secret.
func NewSecret() string {
	body := []byte(secretPrefix)
	for range secretRandom {
		digit, _ := rand.Int(rand.Reader, big.NewInt(int64(len(digits)))) // never fails, see crypto/rand
		body = append(body, digits[digit.Int64()])
	}
	return string(body) + checksum(string(body))
}

// WellFormed reports whether secret has the form of a secret and its checksum is right.
func WellFormed(secret string) bool {
	random, ok := strings.CutPrefix(secret, secretPrefix)
	return ok && len(secret) > secretBody && strings.Trim(random, digits) == "" &&
		secret[secretBody:] == checksum(secret[:secretBody])
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var tail [6]byte
	for i := len(tail) - 1; i >= 0; i-- {
		tail[i] = digits[sum%62]
		sum /= 62
	}
	return string(tail[:])
}

func hint(secret string) string { return secret[:len(secretPrefix)+4] }

// A Digest is the SHA-256 of a secret. Only it and the hint are stored. A plain
// hash suffices: a secret has 190 random bits, so there is no dictionary to try.
type Digest [sha256.Size]byte

// DigestOf returns the digest of a secret.
func DigestOf(secret string) Digest { return sha256.Sum256([]byte(secret)) }

// Hex returns the digest as the database stores it.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }
